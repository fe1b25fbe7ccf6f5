import { expect, test } from "vitest";
import { MemoryDisk } from "../../storage/memory.ts";
import { otherWriter } from "../../testing/other-writer.ts";
import { Profile } from "../../testing/profile.ts";
import { createTestServer } from "../../testing/test-server.ts";
import type { Draft } from "../draft.ts";
import { initialState, type StreamLink } from "../state.ts";
import type { Subscribed } from "./rows.ts";
import { onSnapshotPage } from "./snapshot.ts";
import { isAnswered, keepParts, onPartAnswered } from "./stream-parts.ts";

const schema = {
  models: {
    project: { fields: { name: { type: "string" } } },
    issue: { fields: { projectId: { type: "string" }, title: { type: "string" } } },
  },
} as const;

/** A server with two issues of each of three projects, and a client that is live and has loaded the first project. */
async function start({ follow = { where: { issue: [] } } as object, releasedParts = 20 } = {}) {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const commit = otherWriter(own.server, "issue");
  for (const project of ["p1", "p2", "p3"])
    for (const n of [1, 2]) commit("create", `${project}-${n}`, { projectId: project, title: `${n}` });
  const made = own.client({ disk, platform: { tabs: () => new Profile().tab().tabs }, follow, ...{ releasedParts } });
  const settled = async () => {
    for (let i = 0; i < 4; i++) await own.settle();
  };
  await settled();
  const { client, connection } = made;
  await client.load("issue", { projectId: "p1" }).ready;
  await settled();
  const ids = () =>
    client.models.issue
      .list()
      .map(({ id }) => id)
      .sort()
      .join(" ");
  const kept = () =>
    [...(disk.rows().tables.issue?.entries() ?? [])]
      .map(([id]) => id)
      .sort()
      .join(" ");
  const frames = (kind: string) => connection.frames.filter(({ frame }) => frame === kind);
  return { ...own, client, connection, commit, settled, ids, kept, frames };
}

test("[N49] a part that is loaded while the stream is live takes one subscription and one read, and no socket", async () => {
  const { client, connection, settled, ids, frames } = await start();
  const before = { ...connection.asked };
  const subscribed = frames("subscribe").length;
  await client.load("issue", { projectId: "p2" }).ready;
  await settled();
  expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  expect(connection.asked).toEqual({ ...before, snapshot: before.snapshot + 1 });
  expect(frames("subscribe")).toHaveLength(subscribed + 1);
  expect(client.status().rows).toBe("complete");
});

test("[N49] [N90] parts that go take no request and no socket", async () => {
  const { client, connection, settled, ids, kept, frames } = await start({
    follow: { where: { issue: [{ projectId: "p1" }, { projectId: "p2" }] } },
  });
  expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2");
  const before = { ...connection.asked };
  client.follow({ where: { issue: [{ projectId: "p1" }] } });
  await settled();
  expect(ids()).toBe("p1-1 p1-2");
  expect(kept()).toBe("p1-1 p1-2");
  expect(connection.asked).toEqual(before);
  expect(frames("unsubscribe")).toHaveLength(1);
});

test("[N49] [N89] what happens to a part's records after they were read, and before they are in the rows, is in the rows", async () => {
  const { client, connection, commit, settled, ids, kept } = await start();
  const { snapshot } = connection.asked;
  const part = client.load("issue", { projectId: "p2" });
  const seen = new Set<string>();
  client.subscribe(() => seen.add(ids()));
  // The page was made, and has not arrived.
  while (connection.asked.snapshot === snapshot) await Promise.resolve();
  commit("delete", "p2-1");
  commit("create", "p2-3", { projectId: "p2", title: "3" });
  commit("update", "p2-2", { title: "changed" });
  commit("update", "p1-2", { projectId: "p2" });
  commit("update", "p3-1", { projectId: "p1" });
  await part.ready;
  await settled();
  expect(ids()).toBe("p1-1 p1-2 p2-2 p2-3 p3-1");
  expect(kept()).toBe("p1-1 p1-2 p2-2 p2-3 p3-1");
  expect(client.models.issue.get("p2-2")?.title).toBe("changed");
  expect(connection.asked.socket).toBe(1);
  // No record of the new part was shown before all of them.
  expect([...seen].filter((one) => one.includes("p2-3") && !one.includes("p2-2"))).toEqual([]);
});

const NONE: ReadonlySet<string> = new Set();

/** A leader with a live stream that has read the first project, and wants the others. */
function reading(): Draft {
  const scope = { where: { issue: ["p1", "p2", "p3"].map((projectId) => ({ projectId })) } };
  const have = { where: { issue: [{ projectId: "p1" }] } };
  const known = initialState({ schema, paused: false, sendAtMost: 100, scope });
  return {
    ...{ effects: [], now: 0, roll: 0 },
    state: {
      ...{ ...known, lead: "yes", rows: { tables: {}, logId: "log_1", position: 7, scope: have } },
      ...{ owner: "o/live/user/ann", tokenOwner: "o/live/user/ann" },
      reading: { ...known.reading, resync: "parts" },
      stream: { ...known.stream, phase: "live" },
      subscribed: { parts: NONE, asked: NONE, leaving: NONE, rest: [], wanted: undefined },
    },
  };
}

test("[N49] a part that is wanted after the hello was sent is read once the stream has it", () => {
  const draft = reading();
  const { stream, subscribed } = draft.state;
  const isRead = (phase: StreamLink["phase"], said: Subscribed | undefined) =>
    isAnswered({ ...draft.state, stream: { ...stream, phase }, subscribed: said });
  expect(isRead("opening", undefined)).toBe(true);
  expect(isRead("opening", subscribed)).toBe(false);
  expect(isRead("closed", subscribed)).toBe(true);
});

test("[N49] a page of fewer parts than are being read by now brings nothing: what the stream said is of all of them", () => {
  const draft = reading();
  keepParts(draft);
  for (const id of draft.state.subscribed?.asked ?? []) onPartAnswered(draft, id, 7);
  const one = { where: { issue: [{ projectId: "p2" }] }, models: ["issue"] };
  const before = draft.state.rows;
  const facts = { owner: "o/live/user/ann", viewHash: "view", models: ["issue"], rowsVersion: 0 };
  const page = { logId: "log_1", stamp: 7, lines: [], cursor: null, begin: null, scope: one, ...facts };
  onSnapshotPage(draft, { type: "snapshotRead", ...page, now: 0, roll: 0 });
  expect(draft.state.rows).toBe(before);
  expect(draft.state.reading.resync).toBe("parts");
});

test("[N49] a part that is dropped and wanted again in one step is read, though the stream has heard of nothing", () => {
  const draft = reading();
  keepParts(draft);
  const [first] = draft.effects;
  expect(first).toMatchObject({ do: "sendFrame", frame: { frame: "subscribe" } });
  draft.state = { ...draft.state, reading: { ...draft.state.reading, added: undefined } };
  keepParts(draft);
  expect(draft.state.reading.added).toMatchObject({ from: 7 });
  expect(draft.effects).toEqual([first]);
});

test("[N49] a page from before the stream had the part is read again: what happened in between would be missing", async () => {
  const { client, connection, commit, server, settled, ids } = await start();
  const { snapshot } = connection.asked;
  const part = client.load("issue", { projectId: "p2" });
  while (connection.asked.snapshot === snapshot) await Promise.resolve();
  // The page was made, and has not arrived; the stream says that it has the part from a later position on.
  for (const each of connection.frames)
    if (each.frame === "subscribe")
      for (const { id } of each.parts)
        connection.say({ frame: "subscribed", id, position: server.head + 1, read: true });
  connection.quiet = true;
  commit("create", "p2-3", { projectId: "p2" });
  await part.ready;
  await settled();
  expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2 p2-3");
  expect(connection.asked.snapshot).toBe(snapshot + 2);
});

test("[N49] [N90] a part is dropped while it is read: none of it is shown, and nothing of it is on disk", async () => {
  const { client, connection, clock, commit, settled, ids, kept, frames } = await start({ releasedParts: 0 });
  // No page arrives.
  connection.largestPage = 0;
  const gone = client.load("issue", { projectId: "p2" });
  gone.ready.catch(() => {});
  await settled();
  commit("create", "p2-3", { projectId: "p2", title: "3" });
  await settled();
  gone.release();
  await settled();
  const other = client.load("issue", { projectId: "p3" });
  await settled();
  commit("create", "p2-4", { projectId: "p2", title: "4" });
  connection.largestPage = Number.POSITIVE_INFINITY;
  clock.advance(60_000);
  await other.ready;
  await settled();
  expect(frames("unsubscribe")).toHaveLength(1);
  expect(ids()).toBe("p1-1 p1-2 p3-1 p3-2");
  expect(kept()).toBe("p1-1 p1-2 p3-1 p3-2");
});

test("[N49] the socket is lost while a part is read: the part is read once, and the next hello names it", async () => {
  const { client, connection, clock, commit, settled, ids } = await start();
  connection.snapshotPage = 1;
  const part = client.load("issue", { projectId: "p2" });
  connection.cut?.(1006);
  commit("create", "p2-3", { projectId: "p2", title: "3" });
  await settled();
  clock.advance(5_000);
  await part.ready;
  await settled();
  expect(ids()).toBe("p1-1 p1-2 p2-1 p2-2 p2-3");
  commit("update", "p2-1", { title: "new" });
  await settled();
  expect(client.models.issue.get("p2-1")?.title).toBe("new");
});

test("[N49] [N91] parts that do not fit into a hello are named after it, and the stream begins with all of them", async () => {
  const { client, connection, clock, commit, settled, ids, frames } = await start({ releasedParts: 400 });
  await client.load("issue", { projectId: "p2" }).ready;
  for (let n = 0; n < 300; n++) client.load("issue", { title: `a title that no issue has ${n} ${"x".repeat(80)}` });
  await client.load("issue", { projectId: "p3" }).ready;
  await settled();
  connection.cut?.(1006);
  for (const project of ["p1", "p2", "p3"]) commit("create", `${project}-3`, { projectId: project, title: "3" });
  const { snapshot, log, socket } = connection.asked;
  const before = frames("subscribe").length;
  clock.advance(5_000);
  await settled();
  expect(ids()).toBe("p1-1 p1-2 p1-3 p2-1 p2-2 p2-3 p3-1 p3-2 p3-3");
  expect(connection.asked).toMatchObject({ snapshot, log, socket: socket + 1 });
  const named = frames("subscribe").slice(before) as readonly { readonly more?: boolean }[];
  expect(named.map(({ more }) => more)).toEqual([true, true, false]);
  expect(client.status().rows).toBe("complete");
});

test("[N49] [N92] all rows are read again in several requests, where an address has no room for all parts", async () => {
  const { client, connection, server, commit, settled, ids } = await start({ releasedParts: 400 });
  for (let n = 0; n < 60; n++) client.load("issue", { title: `none ${n} ${"x".repeat(80)}` });
  await client.load("issue", { projectId: "p3" }).ready;
  const { snapshot } = connection.asked;
  commit("create", "p3-3", { projectId: "p3", title: "3" });
  server.logId = "log_2";
  connection.cut?.(1006);
  for (let n = 0; n < 10; n++) {
    client.resume();
    await settled();
  }
  expect(ids()).toBe("p1-1 p1-2 p3-1 p3-2 p3-3");
  expect(client.status().rows).toBe("complete");
  expect(connection.asked.snapshot - snapshot).toBeGreaterThan(1);
});

test("[N49] [N93] over HTTP, where an address has no room for all parts, nothing else of their models is shown", async () => {
  const { client, connection, clock, commit, settled, ids, kept } = await start({ releasedParts: 400 });
  for (let n = 0; n < 60; n++) client.load("issue", { title: `none ${n} ${"x".repeat(80)}` });
  await settled();
  connection.socketUp = false;
  connection.cut?.(1006);
  commit("create", "p1-3", { projectId: "p1", title: "3" });
  commit("create", "p2-3", { projectId: "p2", title: "3" });
  commit("update", "p1-1", { projectId: "p2" });
  for (let n = 0; n < 20; n++) {
    clock.advance(5_000);
    await settled();
  }
  expect(client.status()).toMatchObject({ name: "online", live: false });
  expect([ids(), kept()]).toEqual(["p1-2 p1-3", "p1-2 p1-3"]);
});
