import { expect, test } from "vitest";
import type { Draft } from "../draft.ts";
import { replaceRows } from "../log/reading.ts";
import { rowChange } from "../log/row-changes.ts";
import type { Rows } from "../log/rows.ts";
import { changeTables } from "../log/tables.ts";
import { type ClientState, initialState } from "../state.ts";
import { forgetErased } from "./erased.ts";
import type { Mutation } from "./mutation.ts";
import { emptyQueue, find, onRecord, withMutations } from "./queue.ts";

const KEY = "slide/s1";
const SECRET = { title: "secret" };

const write = (change: Partial<Mutation> = {}, readAt = 3): Mutation => ({
  ...{ clientTxId: "t1", seq: 1, reads: [], body: "{}", bytes: 2, createdAt: 1, owner: null, attempts: 0, echoed: [] },
  operations: [
    { action: "update", model: "slide", id: "s1", data: { title: "mine" }, readAt, onStale: "notify", base: SECRET },
  ],
  keys: [KEY],
  stage: { phase: "queued" },
  ...change,
});

const fields = { title: { type: "string" } } as const;
const state = (...writes: Mutation[]): ClientState => ({
  ...initialState({ schema: { models: { slide: { fields } } }, paused: false, sendAtMost: 10 }),
  erased: new Map([[KEY, 7]]),
  queue: withMutations(emptyQueue, writes),
  generation: 1,
  touched: [],
});

function stepped(before: ClientState, after: ClientState) {
  const draft: Draft = { state: { ...after }, effects: [], now: 0, roll: 0 };
  forgetErased(draft, before);
  const stored = draft.effects.flatMap((effect) => (effect.do === "keep" ? effect.mutations : []));
  return { write: find(draft.state.queue, "t1"), stored, touched: draft.state.touched };
}

test("[ER12] a write that another tab made before it read the erasure loses its values in the leader, and on disk", () => {
  const { write: now, stored, touched } = stepped(state(), state(write()));
  expect(now?.operations).toMatchObject([{ data: { title: "mine" }, base: null }]);
  expect(stored).toEqual([now]);
  expect(touched).toEqual([KEY]);
});

test("[ER12] a write that was on its way to the disk during the erasure is stored again without its values", () => {
  const [saving] = [stepped(state(), state(write({ seq: undefined, stage: { phase: "saving" } }))).write];
  if (!saving) throw new Error("The write is gone.");
  const { stored } = stepped(state(saving), state({ ...saving, seq: 1, stage: { phase: "queued" } }));
  expect(stored).toMatchObject([{ seq: 1, operations: [{ base: null }] }]);
});

test("[ER12] a tab that begins to lead stores the writes to erased records without their values", () => {
  const known = stepped(state(), state(write())).write as Mutation;
  const { stored } = stepped({ ...state(known), generation: undefined }, state(known));
  expect(stored).toEqual([known]);
});

test("[ER12] a write that is based on a later record with the same id keeps what its author saw", () => {
  const { write: now, stored } = stepped(state(), state(write({}, 8)));
  expect(now).toEqual(write({}, 8));
  expect(stored).toEqual([]);
});

test("[ER12] of a refused write the receipt loses the values, and its app is given another item", () => {
  const notification = {
    ...{ object: "stale_notification", model: "slide", id: "s1", writtenBy: "user:ben", readAt: 3 },
    ...{ observedSyncId: 5, conflictingFields: ["title"], currentValues: SECRET },
  } as const;
  const receipt = { object: "commit_receipt", clientTxId: "t1", notifications: [notification] };
  const failure = { code: "stale_context", type: "conflict_error", then: "re-read", message: "Stale.", receipt };
  const stage = { phase: "rejected", failure } as unknown as Mutation["stage"];
  const { write: now } = stepped(state(), state(write({ stage })));
  expect(JSON.stringify(now)).not.toContain(SECRET.title);
  expect(now?.stage).not.toBe(stage);
});

test("[ER12] [ER15] what an undo copied stays in a write that may be under way, and leaves it when it waits for a person", () => {
  const [operation] = write().operations;
  const operations = [{ ...(operation as Mutation["operations"][number]), data: SECRET, copied: ["title"] }];
  const queued = stepped(state(), state(write({ operations }))).write as Mutation;
  expect(queued.operations).toMatchObject([{ data: SECRET, base: null }]);
  const stage = { phase: "conflicted", notifications: [], conflictedAfter: 1 } as const;
  const { write: now } = stepped(state(queued), state({ ...queued, stage }));
  expect(JSON.stringify(now)).not.toContain(SECRET.title);
});

/** All rows are read again, and the record is not among them. */
function replacedBy(rows: Partial<Rows>, isKept = false) {
  const row = rowChange({ model: "slide", id: "s1", syncId: 2, data: { id: "s1", ...SECRET } });
  const before: Rows = { tables: changeTables({}, [row]), logId: "log_1", position: 3 };
  const draft: Draft = { state: { ...state(write()), rows: before }, effects: [], now: 0, roll: 0 };
  replaceRows(draft, { tables: {}, logId: "log_1", position: 9, ...rows }, { isKept });
  // On another log the write has another name.
  return onRecord(draft.state.queue, KEY)[0];
}

test("[ER12] [ER17] a client that reads all rows again, and finds the record gone, keeps no value of it", () => {
  const now = replacedBy({});
  expect(now?.operations).toMatchObject([{ data: { title: "mine" }, base: null }]);
  expect(JSON.stringify(now)).not.toContain(SECRET.title);
});

test.each<[string, Partial<Rows>, boolean]>([
  ["at the same position", {}, true],
  ["at a later position", { position: 9 }, false],
  ["of another view", { viewHash: "narrow" }, false],
])(
  "[ER12] [ER17] [N46] what a write keeps of a record that is in no part, if the same parts are read again %s",
  (_, read, isKept) => {
    const rows: Rows = { tables: {}, logId: "log_1", position: 3, viewHash: "whole" };
    const kept = write({ lost: { [KEY]: SECRET } });
    const draft: Draft = { state: { ...state(kept), rows }, effects: [], now: 0, roll: 0 };
    replaceRows(draft, { ...rows, ...read });
    expect(find(draft.state.queue, "t1")?.lost).toEqual(isKept ? { [KEY]: SECRET } : {});
  },
);

test.each([
  ["of another log", { logId: "log_2" }],
  ["of another part", { scope: { models: ["deck"] } }],
])("[ER12] rows %s say nothing of an erasure, so a person can still restore the record", (_, rows) => {
  expect(replacedBy(rows)?.lost).toMatchObject({ [KEY]: SECRET });
});

test("[ER12] a client keeps nothing for a restore of pages that are on disk already", () => {
  expect(replacedBy({}, true)?.lost).toBeUndefined();
});

test("[ER10] a write to another record that waits because the erased one, its premise, had changed loses the values", () => {
  const notification = {
    ...{ object: "stale_notification", model: "slide", id: "s1", writtenBy: "user:ben", readAt: 3 },
    ...{ observedSyncId: 5, conflictingFields: ["title"], currentValues: SECRET },
  } as const;
  const stage = { phase: "conflicted", notifications: [notification] } as unknown as Mutation["stage"];
  const operations = [{ ...(write().operations[0] as Mutation["operations"][number]), id: "s2", base: null }];
  const { write: now, stored } = stepped(state(), state(write({ operations, keys: ["slide/s2"], stage })));
  expect(JSON.stringify(now)).not.toContain(SECRET.title);
  expect(now?.operations).toMatchObject([{ id: "s2", data: { title: "mine" } }]);
  expect(stored).toEqual([now]);
});

test("[ER10] [ER15] what an undo copied also leaves a write that a decision has moved on before it was refused", () => {
  const failure = { code: "record_not_found", type: "not_found_error", then: "fix", message: "Gone." };
  const [operation] = write({}, 7).operations;
  const operations = [
    { ...(operation as Mutation["operations"][number]), data: SECRET, copied: ["title"], base: null },
  ];
  const stage = { phase: "rejected", failure } as unknown as Mutation["stage"];
  const { write: now } = stepped(state(), state(write({ operations, stage })));
  expect(JSON.stringify(now)).not.toContain(SECRET.title);
});
