import { expect, test } from "vitest";
import type { StaleNotification } from "../../protocol/commits/stale.ts";
import { mergeText } from "../../text/merge-text.ts";
import { changeTables } from "../log/tables.ts";
import { keysOf, type Mutation, type Stage } from "../queue/mutation.ts";
import { emptyQueue, withMutations } from "../queue/queue.ts";
import { type ClientState, initialState } from "../state.ts";
import { planMerge } from "./plan-merge.ts";

const text = { type: "string", merge: "text" } as const;
const schema = { models: { note: { fields: { body: text, short: text, title: { type: "string" } } } } } as const;
const record = { model: "note", id: "n" };

const write = (seq: number, data: object, base: object, stage: Stage = { phase: "queued" }): Mutation => {
  const operations = [{ ...record, action: "update", data, base, readAt: 1, onStale: "notify" }] as never;
  const rest = { reads: [], body: "", bytes: 0, createdAt: 0, owner: null, attempts: 0, echoed: [], stage };
  return { ...rest, clientTxId: `t${seq}`, seq, operations, keys: keysOf([record]) };
};

const confirmed = { phase: "confirmed", receipt: { status: "confirmed", lastSyncId: 3 } } as never;

/** A client whose rows have read up to 2, where others have changed the short text. */
const stateWith = (...writes: Mutation[]): ClientState => {
  const data = { id: "n", body: "one two", short: "a b C", title: "T" };
  const tables = changeTables({}, [{ record, value: { syncId: 2, data } as never }]);
  const state = initialState({ schema, paused: false, sendAtMost: 100 });
  const rows = { ...state.rows, tables, position: 2, logId: "l" };
  return { ...state, rows, queue: withMutations(emptyQueue, writes) };
};

const notice = (currentValues: object): StaleNotification =>
  ({
    ...{ object: "stale_notification", ...record, writtenBy: "user:ben", readAt: 1, observedSyncId: 2 },
    ...{ conflictingFields: Object.keys(currentValues), currentValues },
  }) as never;

const plan = (state: ClientState, stale: Mutation, ...notices: StaleNotification[]) =>
  planMerge(mergeText, state, stale, notices);

test("[MT4] rows that have not reached an earlier write of this client take nothing of it away", () => {
  const earlier = write(1, { body: "one two three" }, { body: "one two" }, confirmed);
  const stale = write(2, { body: "one two three four", short: "A b c" }, { body: "one two three", short: "a b c" });
  const made = plan(stateWith(earlier, stale), stale, notice({ short: "a b C" }));
  expect(made?.instead?.operations).toMatchObject([
    { data: { body: "one two three four", short: "A b C" }, base: { short: "a b C" }, readAt: 2 },
  ]);
});

test("[MT6] a record whose deletion the rows have not reached is not written", () => {
  const earlier = write(1, { body: "one two three" }, { body: "one two" }, confirmed);
  const stale = write(2, { short: "A b c" }, { short: "a b c" });
  const deleted = { ...notice({}), conflictingFields: ["short"] };
  expect(plan(stateWith(earlier, stale), stale, deleted)).toBeUndefined();
  expect(plan(stateWith(stale), stale, { ...deleted, observedSyncId: 3 })).toBeUndefined();
});

test("[MT5] two operations of one commit on one record are merged together", () => {
  const stale: Mutation = {
    ...write(1, {}, {}),
    operations: [
      ...write(1, { body: "uno two" }, { body: "one two" }).operations,
      ...write(1, { short: "A b c" }, { short: "a b c" }).operations,
    ],
  };
  const ahead = { ...notice({ body: "one zwei" }), observedSyncId: 5 };
  const made = plan(stateWith(stale), stale, ahead, { ...notice({ short: "a b C" }), observedSyncId: 6 });
  expect(made?.instead?.operations).toMatchObject([
    { data: { body: "uno zwei" }, readAt: 6 },
    { data: { short: "A b C" }, readAt: 6 },
  ]);
});

test("[MT5] a later write with other fields stays as it is, until the rows show that they are unchanged", () => {
  const stale = write(1, { short: "A b c" }, { short: "a b c" });
  const later = write(2, { short: "A B c", title: "mine" }, { short: "A b c", title: "T" });
  const state = stateWith(stale, later);
  expect(plan(state, stale, { ...notice({ short: "a b C" }), observedSyncId: 3 })?.again).toEqual([]);
  expect(plan(state, stale, notice({ short: "a b C" }))?.again).toMatchObject([
    { operations: [{ data: { short: "A B C", title: "mine" }, base: { short: "A b C" }, readAt: 2 }] },
  ]);
});
