import { expect, test } from "vitest";
import type { ClientOptions } from "../options.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { otherWriter } from "../testing/other-writer.ts";
import { Profile } from "../testing/profile.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = {
  models: {
    project: { fields: { name: { type: "string" } } },
    issue: { fields: { projectId: { type: "string" }, title: { type: "string" }, note: { type: "string" } } },
  },
} as const;

const SECRET = "secret";
const RECORD = { projectId: "p1", title: `${SECRET} title`, note: `${SECRET} note` };
const NONE = { where: { issue: [] } } as const;

/** A server with an issue. Tabs of one profile, whose disk can be slow. */
function start() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const profile = new Profile();
  const slow: { keep?: Promise<void>; readQueue?: Promise<void> } = {};
  /** How many changes the disk still makes. */
  const left = { changes: Number.POSITIVE_INFINITY };
  const counted = async () => {
    left.changes -= 1;
    if (left.changes < 0) await new Promise(() => {});
  };
  const commit = otherWriter(own.server, "issue");
  const settled = async () => {
    for (let i = 0; i < 6; i++) await own.settle();
  };
  const later = async () => {
    for (let i = 0; i < 3; i++) {
      own.clock.advance(10_000);
      await settled();
    }
  };
  const open = async (follow: ClientOptions<ModelSchema>["follow"] = {}) => {
    const tab = profile.tab();
    const inner = memoryStorage(disk);
    const storage = {
      ...inner,
      readQueue: async (...asked: Parameters<typeof inner.readQueue>) => {
        await slow.readQueue;
        return inner.readQueue(...asked);
      },
      keep: async (...kept: Parameters<typeof inner.keep>) => {
        await counted();
        await slow.keep;
        return inner.keep(...kept);
      },
      keepRows: async (...kept: Parameters<typeof inner.keepRows>) => {
        await counted();
        return inner.keepRows(...kept);
      },
    };
    const platform = { tabs: () => tab.tabs, storage: async () => storage as typeof inner };
    const made = own.client({ disk, follow, platform });
    await settled();
    const { client } = made;
    const said = async () =>
      JSON.stringify([client.conflicts(), client.attention(), client.pending(), await client.exportPending()]);
    return { ...made, tab, issue: client.models.issue, said };
  };
  type Tab = Awaited<ReturnType<typeof open>>;
  /** An update of the first tab is in conflict with another person's. `isDeleted`: who then deletes the record. */
  const inConflict = async ({ offline, online, issue, client }: Tab, isDeleted = false) => {
    offline();
    issue.update("i1", { title: "typed" });
    commit("update", "i1", { title: `${SECRET} theirs` });
    await settled();
    online();
    await later();
    if (isDeleted) commit("delete", "i1");
    await settled();
    expect(client.conflicts()).toHaveLength(1);
  };
  const erase = async () => {
    own.server.erase("issue", "i1");
    await settled();
  };
  /** Keeps mine, until nothing is in conflict any more. */
  const keepMine = async ({ client }: Tab) => {
    for (let i = 0; i < 3; i++) {
      client.conflicts()[0]?.keepMine();
      await later();
    }
    return JSON.stringify(own.server.rows.get("issue/i1")?.data ?? null);
  };
  const onDisk = () => JSON.stringify([disk.queue(), disk.rows()]);
  commit("create", "i1", RECORD);
  return { ...own, slow, left, commit, settled, later, open, inConflict, erase, keepMine, onDisk };
}

/** Until it is released. */
function held() {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
}

test.each([false, true])(
  "[ER12] a tab that takes rows of more parts from disk has nothing of a record that was erased meanwhile; deleted before: %s",
  async (isDeleted) => {
    const { open, inConflict, slow, commit, settled, later, erase, keepMine, onDisk } = start();
    for (let n = 0; n < 5_001; n++) commit("create", `n${n}`, { projectId: "large" });
    const [first, second] = [await open(NONE), await open(NONE)];
    await first.client.load("issue", { projectId: "p1" }).ready;
    await settled();
    await inConflict(first, isDeleted);
    const { until, release } = held();
    slow.readQueue = until;
    // So many rows are read from disk by the others.
    await first.client.load("issue", { projectId: "large" }).ready;
    await erase();
    slow.readQueue = undefined as never;
    release();
    await later();
    for (const { said } of [first, second]) expect(await said()).not.toContain(SECRET);
    await first.client.close();
    await later();
    expect(onDisk()).not.toContain(SECRET);
    expect(await keepMine(second)).not.toContain(SECRET);
  },
);

test.each([
  [0, false],
  [1, false],
  [0, true],
  [1, true],
])(
  "[ER9] [ER13] a leader that dies after %s changes of the disk leaves nothing that the next one does not erase; deleted before: %s",
  async (changes, isDeleted) => {
    const { open, inConflict, left, later, erase, keepMine, onDisk } = start();
    const first = await open();
    await inConflict(first, isDeleted);
    left.changes = changes;
    await erase();
    first.tab.kill();
    first.connection.up = false;
    left.changes = Number.POSITIVE_INFINITY;
    const next = await open();
    await later();
    expect(await next.said()).not.toContain(SECRET);
    expect(onDisk()).not.toContain(SECRET);
    expect(await keepMine(next)).not.toContain(SECRET);
  },
);

test.each([false, true])(
  "[ER12] a tab that is opened while the leader stores an erasure forgets what it read; deleted before: %s",
  async (isDeleted) => {
    const { open, inConflict, slow, settled, later, erase, keepMine, onDisk } = start();
    const first = await open();
    await inConflict(first, isDeleted);
    const { until, release } = held();
    slow.keep = until;
    await erase();
    const next = await open();
    slow.keep = undefined as never;
    release();
    await later();
    expect(await next.said()).not.toContain(SECRET);
    await first.client.close();
    await settled();
    await later();
    expect(onDisk()).not.toContain(SECRET);
    expect(await keepMine(next)).not.toContain(SECRET);
  },
);

test("[ER12] [ER18] all rows of a model that are read again because of another `follow` say which of its records are gone", async () => {
  const { open, later, erase, keepMine, onDisk } = start();
  const { client, offline, online, issue, ...tab } = await open();
  offline();
  issue.update("i1", { title: "typed" });
  await erase();
  client.follow({ models: ["issue"] });
  online();
  await later();
  expect(await tab.said()).not.toContain(SECRET);
  expect(onDisk()).not.toContain(SECRET);
  expect(await keepMine({ client, offline, online, issue, ...tab })).not.toContain(SECRET);
});

test("[ER12] [ER18] a record that another `follow` leaves out is not gone: a person can still restore it", async () => {
  const { open, later, commit, keepMine, settled } = start();
  const all = await open({ models: ["issue"] });
  all.offline();
  all.issue.update("i1", { title: "typed" });
  commit("delete", "i1");
  await settled();
  all.client.follow({ models: ["project"] });
  all.online();
  await later();
  expect(JSON.parse(await keepMine(all))).toEqual({ id: "i1", ...RECORD, title: "typed" });
});
