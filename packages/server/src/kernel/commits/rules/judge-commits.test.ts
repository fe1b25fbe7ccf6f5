import { expect, test } from "vitest";
import { commitOf, create, emptyTenant, outcomeOf, update, write, written } from "../../../testing/tenant.ts";
import { judgeInOrder, lookupFor } from "./judge-commits.ts";

const outcomes = (judged: ReturnType<typeof written>) => judged.map(outcomeOf);

test("[C9] a later commit sees what an earlier one of the same round did", () => {
  const state = emptyTenant();
  const judged = written(
    state,
    commitOf([create("slide", "a", { title: "1", deckId: "d" })]),
    commitOf([update("slide", "a", { title: "2" }, { readAt: 0 })], { id: "bob" }),
    commitOf([create("slide", "b", {})], { id: "bob", reads: [{ group: "deck:d", readAt: 0 }] }),
  );
  // Both of bob's were sent with the head before the round: what came in between is news to them.
  expect(outcomes(judged)).toEqual(["confirmed", "stale_context", "stale_context"]);
});

test("[I1] the same key twice in one round is one write", () => {
  const state = emptyTenant();
  const sent = { idempotencyKey: "k", fingerprint: "f" };
  const [first, second] = written(
    state,
    commitOf([create("slide", "a", {})], sent),
    commitOf([create("slide", "a", {})], { ...sent, serverTxId: "stx_other" }),
  );
  expect(outcomeOf(first!)).toBe("confirmed");
  expect(outcomeOf(second!)).toBe("replayed");
  expect(second!.body).toBe(first!.body);
  expect(state.head.syncId).toBe(1);
});

test("[I4] a held commit that is sent again still blocks what was built on it", () => {
  const state = emptyTenant();
  write(state, [create("slide", "a", {})]);
  write(state, [update("slide", "a", { title: "theirs" })], { id: "bob" });
  const held = commitOf([update("slide", "a", { title: "x" }, { readAt: 1, onStale: "notify" })], {
    idempotencyKey: "k",
  });
  const next = commitOf([update("slide", "a", { order: 3 })]);
  expect(outcomes(written(state, held, next))).toEqual(["conflicted", "dependency_blocked"]);
  expect(outcomes(written(state, held, next))).toEqual(["replayed", "dependency_blocked"]);
});

test("[I6] within one commit a key is one operation's too", () => {
  const state = emptyTenant();
  const keyed = { ...create("slide", "a", { title: "1" }, { idempotencyKey: "op" }), fingerprint: "f" };
  const twice = write(state, [keyed, { ...keyed, id: "b" }]);
  expect(JSON.parse(twice.body)).toMatchObject({ status: "confirmed", ops: 2, lastSyncId: 1 });
  expect(state.records.get("slide/b")).toBeUndefined();
  const other = { ...update("slide", "a", { title: "2" }, { idempotencyKey: "op2" }), fingerprint: "g" };
  const mixed = write(state, [other, { ...other, fingerprint: "h" }]);
  expect(JSON.parse(mixed.body)).toMatchObject({
    error: { code: "idempotency_conflict", field: "operations[1].idempotencyKey" },
  });
});

test("[S8] the log is queried only for records that have changed since", () => {
  const state = emptyTenant();
  write(state, [create("slide", "a", { deckId: "d" })]);
  write(state, [create("slide", "b", {})]);
  const ask = (readAt: number, id: string) => [
    ...lookupFor(state, [commitOf([update("slide", id, { title: "x" }, { readAt })])]).history.keys(),
  ];
  expect(ask(0, "a")).toEqual(["slide/a"]);
  expect(ask(1, "a")).toEqual([]);
  expect(ask(2, "a")).toEqual([]);
  expect(ask(1, "gone")).toEqual(["slide/gone"]);
  expect(ask(2, "gone")).toEqual([]);
  const overwrites = update("slide", "a", { title: "x" }, { readAt: 0, onStale: "overwrite" });
  expect(lookupFor(state, [commitOf([overwrites])]).history.size).toBe(0);
  const both = lookupFor(state, [
    commitOf([update("slide", "b", { title: "x" }, { readAt: 1 })]),
    commitOf([], {
      reads: [
        { model: "slide", id: "b", readAt: 0 },
        { group: "deck:d", readAt: 0 },
      ],
    }),
  ]);
  expect([...both.history.values()]).toEqual([{ model: "slide", id: "b", after: 0 }]);
  expect([...both.authors]).toEqual([1]);
});

const LARGE = "x".repeat(700_000);
const stale = (id: string) => update("slide", id, { notes: "mine" }, { readAt: 1, onStale: "notify" });

/** Slides with large notes, which bob has changed after the first position. */
function movedSlides(count: number) {
  const empty = emptyTenant();
  // No commit waits for a later round.
  const state = { ...empty, bytes: { ...empty.bytes, roundBytes: 2 ** 30 } };
  const ids = Array.from({ length: count }, (_, i) => `large${i}`);
  for (const id of ids) write(state, [create("slide", id, { notes: "before" })]);
  for (const id of ids) write(state, [update("slide", id, { notes: LARGE })], { id: "bob" });
  return { state, ids };
}

test("[C22] from the first commit on whose receipt does not fit into 4 MiB, no commit is tried and nothing is kept of it", () => {
  const { state, ids } = movedSlides(8);
  const head = state.head.syncId;
  const kept = state.newReceipts.length;
  const judged = written(state, ...ids.map((id) => commitOf([stale(id)])), commitOf([create("slide", "new", {})]));
  expect(outcomes(judged)).toEqual([...Array(5).fill("conflicted"), ...Array(4).fill("answer_too_large")]);
  expect(judged.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThan(4 * 1_048_576);
  expect(state.head.syncId).toBe(head);
  expect(state.newReceipts.length - kept).toBe(5);
});

test("[C22] a bulk that is judged in several rounds has the same bound", () => {
  const { state, ids } = movedSlides(8);
  const commits = ids.map((id) => commitOf([stale(id)]));
  const first = judgeInOrder(state, commits.slice(0, 4));
  expect(outcomes(judgeInOrder(state, commits, first))).toEqual([
    ...Array(5).fill("conflicted"),
    ...Array(3).fill("answer_too_large"),
  ]);
});

test("[B11] a commit whose receipt does not fit beside the answers in flight is not tried, but a write that is confirmed is", () => {
  const { state, ids } = movedSlides(2);
  const room = { inAnswer: 4 * 1_048_576, inFlight: 500_000 };
  const made = judgeInOrder(state, [commitOf([create("slide", "new", {})]), commitOf([stale("large0")])], [], room);
  expect(outcomes(made)).toEqual(["confirmed", "too_many_answers"]);
  const none = judgeInOrder(state, [commitOf([create("slide", "newer", {})])], [], { ...room, inFlight: -1 });
  expect(outcomes(none)).toEqual(["confirmed"]);
  const again = judgeInOrder(state, [commitOf(ids.map(stale))], [], { ...room, inFlight: 2_000_000 });
  expect(outcomes(again)).toEqual(["conflicted"]);
});

test("[C22] a receipt that is repeated counts like a new one", () => {
  const { state, ids } = movedSlides(7);
  const commits = ids.map((id, i) => commitOf([stale(id)], { idempotencyKey: `k${i}` }));
  for (const commit of commits) written(state, commit);
  expect(outcomes(written(state, ...commits))).toEqual([
    ...Array(5).fill("replayed"),
    ...Array(2).fill("answer_too_large"),
  ]);
});
