import { expect, test } from "vitest";
import { MemoryDisk } from "../../storage/memory.ts";
import { otherWriter } from "../../testing/other-writer.ts";
import { Profile } from "../../testing/profile.ts";
import { createTestServer, type TestClient } from "../../testing/test-server.ts";

const schema = {
  models: {
    issue: { fields: { projectId: { type: "string" }, title: { type: "string" }, note: { type: "string" } } },
  },
} as const;

const RECORD = { projectId: "p1", title: "title", note: "note" };

type Step = readonly [action: "update" | "delete", data?: object] | "no answer yet";

/** A tab has a write to a record on its way, and has dropped the record's part; others do something to the record. */
const leftWith = (...steps: readonly Step[]) => leftAfter(({ issue }) => issue.update("i1", { title: "typed" }), steps);

interface Opened {
  readonly client: TestClient<typeof schema>["client"];
  readonly issue: TestClient<typeof schema>["client"]["models"]["issue"];
}

/** A person decides about the first conflict. */
function decide({ client }: Opened, answer: "keepMine" | "merge" | "takeTheirs"): void {
  const [conflict] = client.conflicts();
  if (answer === "merge") conflict?.merge({ title: "merged" });
  else conflict?.[answer]();
}

/** The same after another write. */
async function leftAfter(
  writes: (tab: Opened) => { readonly receipt: Promise<unknown> },
  steps: readonly Step[],
  before: readonly string[] = [],
) {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const profile = new Profile();
  const commit = otherWriter(own.server, "issue");
  const settled = async () => {
    for (let i = 0; i < 6; i++) await own.settle();
  };
  const open = async () => {
    const made = own.client({
      ...{ disk, follow: { where: { issue: [] } }, releasedParts: 0 },
      platform: { tabs: () => profile.tab().tabs },
    });
    await settled();
    const { issue } = made.client.models;
    const rows = (archived: "with" | "without") =>
      issue.list({ archived }).map(({ id, title, note }) => `${id} ${title} ${note}`);
    return { ...made, issue, shown: () => rows("with"), unarchived: () => rows("without") };
  };
  commit("create", "i1", RECORD);
  commit("create", "i2", { ...RECORD, projectId: "p2" });
  commit("create", "i3", RECORD);
  for (const action of before) commit(action, "i1");
  const [first, second] = [await open(), await open()];
  const part = first.client.load("issue", { projectId: "p1" });
  await part.ready;
  first.connection.answers.push("held back");
  writes(first).receipt.catch(() => {});
  await settled();
  part.release();
  await first.client.load("issue", { projectId: "p2" }).ready;
  await settled();
  expect(first.shown()[0]).toBe("i1 typed note");
  for (const step of steps) if (step !== "no answer yet") commit(step[0], "i1", step[1]);
  await settled();
  if (!steps.includes("no answer yet")) first.connection.release();
  await settled();
  const later = async () => {
    own.clock.advance(10_000);
    await settled();
  };
  const { server } = own;
  const record = () => server.rows.get("issue/i1")?.data;
  return { first, second, open, settled, later, record, commit, server, disk };
}

test("[N46] [N84] if the server says that it was deleted, it is shown no more, in any tab", async () => {
  const { first, second, open, settled } = await leftWith(["delete"]);
  expect(first.client.conflicts()).toMatchObject([{ mine: { title: "typed" }, theirs: null }]);
  for (const { shown } of [first, second]) expect(shown()).toEqual(["i2 title note"]);
  await second.client.load("issue", { projectId: "p1" }).ready;
  await settled();
  for (const { shown } of [first, second, await open()]) expect(shown()).toEqual(["i2 title note", "i3 title note"]);
});

test("[N46] [N85] [Q23] once its part is there again without it, it is gone in all tabs, also while the write is on its way", async () => {
  const { first, second, open, settled } = await leftWith(["delete"], "no answer yet");
  for (const { shown } of [first, second]) expect(shown()).toEqual(["i1 typed note", "i2 title note"]);
  await second.client.load("issue", { projectId: "p1" }).ready;
  await settled();
  for (const { shown } of [first, second, await open()]) expect(shown()).toEqual(["i2 title note", "i3 title note"]);
  expect(first.issue.status({ where: { projectId: "p1" } })).toBe("complete");
});

test("[Q12] [N84] [R4] if others changed it, theirs is what the server says, and the record is shown with it", async () => {
  const { first, second } = await leftWith(["update", { title: "theirs", note: "new" }]);
  expect(first.client.conflicts()).toMatchObject([
    { base: { title: "title" }, mine: { title: "typed" }, theirs: { title: "theirs" }, fields: ["title"] },
  ]);
  for (const { shown } of [first, second]) expect(shown()).toEqual(["i1 theirs note", "i2 title note"]);
});

test.each([
  ["keepMine", "typed"],
  ["merge", "merged"],
  ["takeTheirs", "theirs"],
] as const)("[Q13] [Q15] [R67] a decision on it is taken: %s", async (answer, title) => {
  const { first, later, record } = await leftWith(["update", { title: "theirs", note: "new" }]);
  decide(first, answer);
  await later();
  expect(record()).toEqual({ id: "i1", projectId: "p1", title, note: "new" });
  expect([first.client.attention(), first.client.conflicts(), first.client.pending()]).toEqual([[], [], []]);
});

test.each([
  ["keepMine", "typed behind"],
  ["merge", "merged behind"],
  ["takeTheirs", "theirs behind"],
] as const)(
  "[N46] [Q14] while what a decision leaves is on its way, the record is shown with it: %s",
  async (answer, shown) => {
    const { first, second, settled } = await leftWith(["update", { title: "theirs", note: "new" }]);
    second.issue.update("i1", { note: "behind" });
    await settled();
    first.offline();
    decide(first, answer);
    await settled();
    for (const tab of [first, second]) expect(tab.shown()).toEqual([`i1 ${shown}`, "i2 title note"]);
  },
);

test.each(["keepMine", "merge", "takeTheirs"] as const)(
  "[N46] [N83] [Q16] a decision about one record of a commit leaves the others shown, as long as it is on its way: %s",
  async (answer) => {
    const both = ({ client }: Opened) =>
      client.transact((tx) => {
        tx.issue.update("i1", { title: "typed" });
        tx.issue.update("i3", { title: "typed" });
      });
    const { first, second, settled } = await leftAfter(both, [["update", { title: "theirs" }]]);
    const mine = { keepMine: "typed", merge: "merged", takeTheirs: "theirs" }[answer];
    first.offline();
    decide(first, answer);
    await settled();
    const i1 = answer === "takeTheirs" ? [] : [`i1 ${mine} note`];
    for (const { shown } of [first, second]) expect(shown()).toEqual([...i1, "i2 title note", "i3 typed note"]);
  },
);

test("[ER9] what a decision leaves of a commit keeps no values of records that it does not touch any more", async () => {
  const writes = ({ client, issue }: Opened) => {
    const write = issue.update("i1", { title: "typed" });
    client.transact((tx) => {
      tx.issue.update("i1", { title: "typed" });
      tx.issue.update("i3", { title: "typed" });
    });
    return write;
  };
  const { first, disk, settled } = await leftAfter(writes, [["update", { title: "theirs" }]]);
  first.offline();
  first.client.conflicts()[0]?.takeTheirs();
  await settled();
  expect(disk.queue().map(({ keys, lost }) => [keys, Object.keys(lost ?? {})])).toEqual([[["issue/i3"], ["issue/i3"]]]);
});

test("[N46] [N83] [Q17] a refused write that is sent again is shown", async () => {
  const { first, second, settled } = await leftAfter(reject, [["update", { title: "theirs" }]]);
  expect(first.client.attention()).toHaveLength(1);
  first.offline();
  first.client.attention()[0]?.retry();
  await settled();
  for (const { shown } of [first, second]) expect(shown()).toEqual(["i1 typed note", "i2 title note"]);
});

test("[N46] [N82] once one write to it is in the log, it is shown no more: a later one would show it without the first", async () => {
  const update = ({ issue }: Opened) => issue.update("i1", { title: "typed" });
  const { first, second, settled, open } = await leftAfter(update, ["no answer yet"]);
  second.issue.update("i1", { note: "behind" });
  await settled();
  expect(first.shown()).toEqual(["i1 typed behind", "i2 title note"]);
  const seen = new Set<string>();
  for (const { client, shown } of [first, second]) client.subscribe(() => seen.add(shown().join(", ")));
  first.connection.answers.push("held back");
  first.connection.release();
  await settled();
  expect(first.client.pending()).toHaveLength(1);
  for (const { shown } of [first, second, await open()]) expect(shown()).toEqual(["i2 title note"]);
  first.connection.release();
  await settled();
  expect(first.client.pending()).toEqual([]);
  expect([...seen]).toEqual(["i2 title note"]);
});

test("[N46] [N82] nor does a later one from before its part was dropped", async () => {
  const both = ({ issue }: Opened) => {
    const write = issue.update("i1", { title: "typed" });
    // In a request of its own.
    void write.queued.then(() => issue.update("i1", { note: "note" }));
    return write;
  };
  const { first, second, open, settled } = await leftAfter(both, ["no answer yet"]);
  first.connection.answers.push("held back");
  first.connection.release();
  await settled();
  expect(first.client.pending()).toHaveLength(1);
  for (const { shown } of [first, second, await open()]) expect(shown()).toEqual(["i2 title note"]);
});

test("[Q12] [Q13] of a record that was never loaded, theirs is what the server says", async () => {
  const { first, commit, settled, later, server } = await leftWith("no answer yet");
  first.connection.release();
  await settled();
  first.client.pause();
  first.issue.update("i3", { title: "typed" });
  commit("update", "i3", { title: "theirs" });
  first.client.resume();
  await later();
  expect(first.client.conflicts()).toMatchObject([{ mine: { title: "typed" }, theirs: { title: "theirs" } }]);
  first.client.conflicts()[0]?.keepMine();
  await later();
  expect(server.rows.get("issue/i3")?.data).toEqual({ id: "i3", ...RECORD, title: "typed" });
});

test.each([
  ["all", {}],
  ["one condition", { where: { issue: { projectId: "p1" } } }],
  ["a list of them", { where: { issue: [{ projectId: "p1" }] } }],
] as const)(
  "[Q12] theirs is null if others have deleted what this client has created, following %s",
  async (_, follow) => {
    const own = createTestServer(schema);
    const commit = otherWriter(own.server, "issue");
    const { client, connection, offline, online } = own.client({ follow });
    const settled = async () => {
      own.clock.advance(10_000);
      for (let i = 0; i < 6; i++) await own.settle();
    };
    await settled();
    connection.quiet = true;
    client.models.issue.create(RECORD, { id: "i9" });
    await settled();
    commit("update", "i9", { title: "theirs" });
    client.models.issue.update("i9", { title: "typed" });
    await settled();
    commit("delete", "i9");
    connection.quiet = false;
    offline();
    await settled();
    online();
    await settled();
    expect(client.conflicts()).toMatchObject([{ mine: { title: "typed" }, theirs: null }]);
  },
);

const reject = ({ issue }: Opened) => issue.update("i1", { title: "typed" }, { onStale: "reject" });

test.each(["first", "second"] as const)(
  "[N46] [N82] [Q17] a write behind a refused one shows the record after that has been discarded, made in the %s tab",
  async (made) => {
    const { settled, ...tabs } = await leftAfter(reject, [["update", { title: "theirs" }]]);
    const { first, second, open } = tabs;
    tabs[made].issue.update("i1", { note: "behind" });
    await settled();
    first.offline();
    first.client.attention()[0]?.discard();
    await settled();
    for (const { shown } of [first, second, await open()])
      expect(shown()).toEqual(["i1 title behind", "i2 title note"]);
  },
);

test("[N46] [N82] [Q17] so does one that is being stored when that is discarded", async () => {
  const { first, second, open, settled } = await leftAfter(reject, [["update", { title: "theirs" }]]);
  first.offline();
  first.issue.update("i1", { note: "behind" });
  first.client.attention()[0]?.discard();
  await settled();
  for (const { shown } of [first, second, await open()]) expect(shown()).toEqual(["i1 title behind", "i2 title note"]);
});

test("[N46] [N83] [Q17] a refused write that is sent with other values is shown", async () => {
  const { first, second, settled } = await leftAfter(reject, [["update", { title: "theirs" }]]);
  first.offline();
  const [item] = first.client.attention();
  item?.edit(item.operations.map((o) => ({ ...o, data: { title: "other" } })));
  await settled();
  for (const { shown } of [first, second]) expect(shown()).toEqual(["i1 other note", "i2 title note"]);
});

test("[N46] an archived one is shown as archived", async () => {
  const update = ({ issue }: Opened) => issue.update("i1", { title: "typed" });
  const { first, second, open, settled } = await leftAfter(update, ["no answer yet"], ["archive"]);
  second.issue.update("i1", { note: "behind" });
  await settled();
  for (const { shown, unarchived } of [first, second, await open()]) {
    expect(shown()).toEqual(["i1 typed behind", "i2 title note"]);
    expect(unarchived()).toEqual(["i2 title note"]);
  }
});

test.each(["keepMine", "merge", "takeTheirs"] as const)(
  "[N46] [Q14] while what a decision leaves is on its way, an archived one is shown as archived: %s",
  async (answer) => {
    const update = ({ issue }: Opened) => issue.update("i1", { title: "typed" });
    const { first, second, settled } = await leftAfter(update, [["update", { title: "theirs" }]], ["archive"]);
    second.issue.update("i1", { note: "behind" });
    await settled();
    first.offline();
    decide(first, answer);
    await settled();
    expect(first.shown()).toHaveLength(2);
    expect(first.unarchived()).toEqual(["i2 title note"]);
  },
);

test("[N46] one that others have unarchived since is not", async () => {
  const update = ({ issue }: Opened) => issue.update("i1", { title: "typed" });
  const { first, commit, settled } = await leftAfter(update, ["no answer yet"], ["archive"]);
  const part = first.client.load("issue", { projectId: "p1" });
  await part.ready;
  commit("unarchive", "i1");
  await settled();
  part.release();
  await first.client.load("issue", { projectId: "p3" }).ready;
  await settled();
  expect(first.unarchived()).toEqual(["i1 typed note", "i2 title note"]);
});

test("[N46] [Q23] a write of a tab that does not know yet that one before it is in the log shows the record no more", async () => {
  const { first, second, open, settled } = await leftWith("no answer yet");
  first.connection.answers.push("held back");
  first.connection.release();
  second.issue.update("i1", { note: "behind" });
  await settled();
  expect(first.client.pending()).toHaveLength(1);
  for (const { shown } of [first, second, await open()]) expect(shown()).toEqual(["i2 title note"]);
});

test.each([
  ["just before, by the same tab", 0, "before"],
  ["just after, by the same tab", 0, "after"],
  ["just after, by another tab", 1, "after"],
] as const)("[N46] [Q23] a write is shown if its part is dropped in the same moment: %s", async (_, by, when) => {
  const { first, second, open, settled } = await leftWith("no answer yet");
  first.connection.release();
  const part = first.client.load("issue", { projectId: "p1" });
  await part.ready;
  await settled();
  first.connection.answers.push("held back");
  const writes = () => [first, second][by]?.issue.update("i3", { note: "last" });
  if (when === "before") writes();
  part.release();
  const loaded = first.client.load("issue", { projectId: "p3" });
  if (when === "after") writes();
  await loaded.ready;
  await settled();
  for (const { shown } of [first, second, await open()]) expect(shown()).toContain("i3 title last");
});

test("[Q13] a deleted one is restored as it was, with mine on top", async () => {
  const { first, later, record } = await leftWith(["delete"]);
  first.client.conflicts()[0]?.keepMine();
  await later();
  expect(record()).toEqual({ id: "i1", ...RECORD, title: "typed" });
  expect([first.client.attention(), first.client.conflicts()]).toEqual([[], []]);
});
