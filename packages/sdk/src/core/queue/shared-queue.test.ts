import { expect, test } from "vitest";
import type { LogEntry } from "../../protocol/log/log.ts";
import type { Effect } from "../effects.ts";
import type { Happening } from "../events.ts";
import type { Rows } from "../log/rows.ts";
import { changeTables, lookUp } from "../log/tables.ts";
import { initialState, type QueueSnapshot } from "../state.ts";
import { machine } from "../step.ts";
import { keysOf, type Mutation } from "./mutation.ts";
import { serialized } from "./serialized.ts";

const schema = { models: { slide: { fields: { order: { type: "number" } } } } } as const;
const record = { model: "slide", id: "a" };

/** The rows of a log with that many entries, each of which increments the record's counter. */
function rowsAt(position: number): Rows {
  const row = { data: { id: "a", order: position }, archivedAt: null, syncId: position };
  return { tables: changeTables({}, [{ record, value: row as never }]), logId: "log_1", position };
}

function count(to: number): Mutation {
  const operations = [{ ...record, action: "update", data: { order: to }, onStale: "notify", base: null }] as const;
  const bare = {
    operations,
    keys: keysOf(operations),
    body: "",
    bytes: 0,
    createdAt: 0,
    owner: null,
    attempts: 0,
    echoed: [],
  };
  const stage = { phase: "queued" } as const;
  return serialized({ ...bare, clientTxId: `tx${to}`, seq: to, reads: [], stage }, "client", rowsAt(0));
}

/** A follower, and the value that it shows after each event. */
function follower() {
  let state = initialState({ schema, paused: false, sendAtMost: 100 });
  let effects: readonly Effect[] = [];
  const apply = (happening: Happening): unknown => {
    [state, effects] = machine.step(state, { ...happening, now: 0, roll: 0.5 });
    return (lookUp(state.overlay, record) ?? lookUp(state.rows.tables, record))?.data.order;
  };
  const empty = { mutations: [], changes: 0, lastSeq: 0, generation: 1 };
  apply({ type: "restored", clientId: "client", storeId: "store", ...empty, rows: rowsAt(0) });
  const freed = () => effects.flatMap((effect) => (effect.do === "keepRows" ? effect.settled : []));
  return Object.assign(apply, {
    pending: () => state.queue.order,
    touched: () => [...state.queue.byRecord.entries()].map(([key]) => key),
    freed: () => freed().map(({ clientTxId }) => clientTxId),
  });
}

const entry = (syncId: number): LogEntry =>
  ({
    ...{ object: "log_entry", syncId, ...record, verb: "updated", data: { id: "a", order: syncId } },
    ...{ changedFields: ["order"], clientTxId: `tx${syncId}`, clientId: "client", createdAt: "" },
  }) as never;

const confirmed = (to: number): Happening => ({
  type: "answered",
  request: -1,
  names: [`tx${to}`],
  reply: {
    kind: "answer",
    status: 200,
    body: {
      data: [
        {
          httpStatus: 200,
          object: "commit_receipt",
          clientTxId: `tx${to}`,
          status: "confirmed",
          success: true,
          lastSyncId: to,
          logId: "log_1",
          ops: 1,
        },
      ],
    },
  },
});

test("[R8] an earlier write that a tab finds on disk late is not shown on top of a later one that the rows contain", () => {
  const apply = follower();
  expect(apply({ type: "arrived", mutations: [count(2)] })).toBe(2);
  expect(apply(confirmed(2))).toBe(2);
  // The tab that leads has kept the rows, and not yet taken off what they settled.
  const snapshot: QueueSnapshot = {
    mutations: [count(1), count(2)],
    changes: 0,
    lastSeq: 2,
    generation: 1,
    rows: rowsAt(2),
  };
  apply({ type: "rows", other: false });
  expect(apply({ type: "queueRead", snapshot, rows: "all" })).toBe(2);
  const removed = [count(1), count(2)].map(({ clientTxId, seq = 0 }) => ({ clientTxId, seq }));
  expect(apply({ type: "changed", change: 1, put: [], removed })).toBe(2);
});

test("[Q35] a tab that is becoming the leader knows the writes that it stored meanwhile, and settles them when the log has them", () => {
  const apply = follower();
  apply({ type: "elected" });
  apply({ type: "arrived", mutations: [count(1)] });
  for (const to of [2, 3]) {
    apply({ ...count(to), type: "mutated" });
    apply({ type: "persisted", done: [{ put: [{ mutation: count(to) }], drop: [] }], refused: [], change: undefined });
  }
  const snapshot: QueueSnapshot = { mutations: [count(1)], changes: 0, lastSeq: 1, generation: 1, rows: undefined };
  apply({ type: "leadTaken", snapshot, converted: [] });
  for (const to of [1, 2, 3]) apply(confirmed(to));
  expect(apply.pending()).toEqual(["tx1", "tx2", "tx3"]);
  apply({ type: "entriesReceived", from: 0, to: 3, entries: [1, 2, 3].map(entry) });
  expect(apply.pending()).toEqual([]);
});

test("[Q50] a write that another tab has decided touches fewer records, and is no longer shown on the others", () => {
  const apply = follower();
  const both = { ...count(1), keys: ["slide/a", "slide/b"] };
  expect(apply({ type: "arrived", mutations: [both] })).toBe(1);
  const less = { ...count(1), operations: [{ ...record, id: "b", action: "create" }] as never, keys: ["slide/b"] };
  const put = [{ mutation: { ...less, body: "less" }, over: { clientTxId: "tx1", seq: 1, phase: "queued" as const } }];
  expect(apply({ type: "changed", change: 1, put, removed: [] })).toBe(0);
  expect(apply.touched()).toEqual(["slide/b"]);
  apply({ type: "changed", change: 2, put: [], removed: [{ clientTxId: "tx1", seq: 1 }] });
  expect([apply.pending(), apply.touched()]).toEqual([[], []]);
});

test("[Q35] a confirmed write behind an unknown slot leaves the queue as soon as the slot is known", () => {
  const apply = follower();
  apply({ type: "arrived", mutations: [count(2)] });
  apply(confirmed(2));
  const snapshot: QueueSnapshot = { mutations: [count(2)], changes: 0, lastSeq: 0, generation: 1, rows: rowsAt(2) };
  apply({ type: "rows", other: false });
  apply({ type: "queueRead", snapshot, rows: "all" });
  expect(apply.pending()).toEqual(["tx2"]);
  apply({ type: "arrived", mutations: [{ ...count(1), keys: ["slide/another"] }] });
  expect(apply.pending()).toEqual(["tx1"]);
});

test("[N15] [N61] a leader that took earlier rows from disk takes a write off the disk together with the rows that have it", () => {
  const apply = follower();
  const found = { mutations: [count(1)], changes: 0, lastSeq: 1 };
  apply({ type: "elected" });
  apply({ type: "leadTaken", snapshot: { ...found, generation: 2, rows: undefined }, converted: [] });
  apply(confirmed(1));
  apply({ type: "entriesReceived", from: 0, to: 1, entries: [entry(1)] });
  expect([apply.pending(), apply.freed()]).toEqual([[], ["tx1"]]);

  // Another tab leads before that is stored. This one takes the rows of the view that it has now.
  apply({ type: "fenced", generation: 2 });
  const rows: Rows = { ...rowsAt(0), viewHash: "narrow" };
  expect(apply({ type: "queueRead", snapshot: { ...found, generation: 3, rows }, rows: "all" })).toBe(1);
  apply({ type: "elected" });
  expect(apply({ type: "leadTaken", snapshot: { ...found, generation: 4, rows: undefined }, converted: [] })).toBe(1);
  expect([apply.pending(), apply.freed()]).toEqual([["tx1"], []]);

  expect(apply({ type: "entriesReceived", from: 0, to: 1, entries: [entry(1)] })).toBe(1);
  expect([apply.pending(), apply.freed()]).toEqual([[], ["tx1"]]);
});

test.each([
  [
    "the stored queue, which it reads",
    (apply, found) => apply({ type: "queueRead", snapshot: found, rows: "further" }),
  ],
  ["another tab", (apply, found) => apply({ type: "arrived", mutations: found.mutations })],
] satisfies [string, (apply: (happening: Happening) => unknown, found: QueueSnapshot) => void][])(
  "[R23] a write that was being stored while the log was replaced is offered again, also if the leader hears of its place from %s",
  (_, hears) => {
    const apply = follower();
    apply({ type: "elected" });
    const nothing = { mutations: [], changes: 0, lastSeq: 0, rows: undefined };
    apply({ type: "leadTaken", snapshot: { ...nothing, generation: 2 }, converted: [] });
    apply({ ...count(1), type: "mutated" });
    apply({ type: "resyncRequested", reason: "other_log" });
    const facts = { rowsVersion: 1, owner: "ann", viewHash: "all", models: ["slide"] };
    apply({ type: "snapshotRead", logId: "log_2", stamp: 0, lines: [], cursor: null, begin: null, ...facts });
    expect(apply.pending()).toEqual(["tx1"]);
    hears(apply, { ...nothing, mutations: [count(1)], lastSeq: 1, generation: 2 });
    expect(apply.pending()).toEqual(["tx1~1"]);
    apply({ type: "persisted", done: [{ put: [{ mutation: count(1) }], drop: [] }], refused: [], change: undefined });
    expect(apply.pending()).toEqual(["tx1~1"]);
  },
);
