import fc from "fast-check";
import { expect, test } from "vitest";
import { create, emptyTenant, outcomeOf, remove, update, write } from "../../../testing/tenant.ts";
import type { TenantState } from "./tenant-state.ts";

/** A tenant with one slide, made by ann at position 1 and retitled by bob at 2. */
function oneSlide(): TenantState {
  const state = emptyTenant();
  write(state, [create("slide", "s1", { deckId: "d1", title: "first" })], { id: "ann" });
  write(state, [update("slide", "s1", { title: "bob's" })], { id: "bob", clientId: "bobs" });
  return state;
}
const rowOf = (state: TenantState, key = "slide/s1") => state.records.get(key);

/** Each refused for another reason, in the order in which the questions are asked. */
const wrongs = {
  unknown_model: update("nothing", "s1", { a: 1 }),
  claim_lost: update("slide", "s1", { notes: "x" }, { claim: "claim_1" }),
  read_at_in_future: update("slide", "s1", { notes: "x" }, { readAt: 99 }),
  already_exists: create("slide", "s1", { title: "other" }),
  stale_context: update("slide", "s1", { title: "mine" }, { readAt: 1 }),
} as const;
const codes = Object.keys(wrongs) as (keyof typeof wrongs)[];

test.each(codes.flatMap((first, i) => codes.slice(i + 1).map((second) => [first, second] as const)))(
  "[C2] %s is found before %s, wherever they stand",
  (first, second) => {
    for (const pair of [
      [first, second],
      [second, first],
    ] as const) {
      const judged = write(
        oneSlide(),
        // Two operations on one record would hide each other: an operation does not conflict with its own siblings.
        pair.map((code) => wrongs[code]),
      );
      expect(outcomeOf(judged)).toBe(first);
    }
  },
);

test("[C2] a replay is found before everything else", () => {
  const state = oneSlide();
  const sent = { idempotencyKey: "k1", fingerprint: "f" };
  write(state, [update("slide", "s1", { title: "x" })], sent);
  expect(outcomeOf(write(state, [update("nothing", "s1", {})], sent))).toBe("replayed");
});

test("[I6] an operation that is only repeated asks for no claim", () => {
  const state = oneSlide();
  const named = {
    ...update("slide", "s1", { title: "x" }, { claim: "claim_1", idempotencyKey: "op" }),
    fingerprint: "f",
  };
  expect(outcomeOf(write(state, [named], { id: "ann" }))).toBe("claim_lost");
  state.receipts.set("user:ann operation op", { fingerprint: "f", body: "", conflicted: false });
  expect(outcomeOf(write(state, [named], { id: "ann" }))).toBe("confirmed");
});

test("[C2] any refusal wins over holding", () => {
  const held = update("slide", "s1", { title: "mine" }, { readAt: 1, onStale: "notify" });
  expect(outcomeOf(write(oneSlide(), [held]))).toBe("conflicted");
  for (const code of codes)
    expect(outcomeOf(write(oneSlide(), [held, wrongs[code]]))).toBe(code === "stale_context" ? "conflicted" : code);
  write(oneSlide(), [held]);
  const state = oneSlide();
  write(state, [create("slide", "s2", { title: "a" })]);
  write(state, [update("slide", "s2", { title: "b" })], { id: "bob" });
  expect(outcomeOf(write(state, [held, update("slide", "s2", { title: "c" }, { readAt: 3 })]))).toBe("stale_context");
  const reads = [{ model: "slide", id: "s2", readAt: 3 }];
  expect(outcomeOf(write(state, [held], { reads }))).toBe("stale_context");
});

test("[L3] an entry keeps the groups after, and those before when they were others", () => {
  const state = oneSlide();
  const entries = (operations: Parameters<typeof write>[1]) => {
    const { decision } = write(state, operations);
    return decision.kind === "confirmed"
      ? decision.entries.map(({ groups, groupsBefore }) => [groups, groupsBefore])
      : [];
  };
  expect(entries([update("slide", "s1", { title: "x" })])).toEqual([[["deck:d1"], null]]);
  expect(entries([update("slide", "s1", { deckId: "d2" })])).toEqual([[["deck:d2"], ["deck:d1"]]]);
  // A deletion keeps the record's last groups: its readers see a deletion, not a move.
  expect(entries([remove("slide", "s1")])).toEqual([[["deck:d2"], null]]);
});

test.each([
  ["a row", { model: "slide", id: "s1", readAt: 1 }, true],
  ["a row, read since", { model: "slide", id: "s1", readAt: 2 }, false],
  ["a field that moved", { model: "slide", id: "s1", fields: ["title"], readAt: 1 }, true],
  ["a field that did not", { model: "slide", id: "s1", fields: ["order"], readAt: 1 }, false],
  ["a row that is not there", { model: "slide", id: "s9", readAt: 0 }, false],
  ["a group", { group: "deck:d1", readAt: 1 }, true],
  ["a group, read since", { group: "deck:d1", readAt: 2 }, false],
  ["another group", { group: "deck:d2", readAt: 0 }, false],
  ["the whole organization", { group: "org:org_1", readAt: 1 }, true],
])("[S10] a premise on %s", (_, read, moved) => {
  const operations = [create("slide", "s2", { title: "x" })];
  expect(outcomeOf(write(oneSlide(), operations, { reads: [read] }))).toBe(moved ? "stale_context" : "confirmed");
  expect(outcomeOf(write(oneSlide(), operations, { reads: [{ ...read, onStale: "notify" }] }))).toBe(
    moved ? "conflicted" : "confirmed",
  );
  expect(outcomeOf(write(oneSlide(), operations, { reads: [{ ...read, onStale: "overwrite" }] }))).toBe("confirmed");
  if (read.readAt < 2)
    expect(outcomeOf(write(oneSlide(), operations, { reads: [read], id: "bob", clientId: "bobs" }))).toBe(
      read.readAt === 0 && moved ? "stale_context" : "confirmed",
    );
});

test("[S8] a premise on a row that is gone cannot be kept when the log no longer reaches back", () => {
  const state = oneSlide();
  write(state, [remove("slide", "s1")], { id: "bob" });
  state.history.clear();
  state.head = { ...state.head, trimmedTo: 3 };
  const reads = [{ model: "slide", id: "s1", readAt: 2 }];
  expect(outcomeOf(write(state, [create("slide", "s2", {})], { reads }))).toBe("stale_context");
});

test("[S2] for random writes, a writer with an older position never overwrites a field that changed since", () => {
  const fields = ["title", "notes", "order"] as const;
  const value = fc.constantFrom("a", "b");
  const writeOf = fc.record({ title: value, notes: value, order: fc.constantFrom(1, 2) }, { requiredKeys: [] });
  fc.assert(
    fc.property(
      fc.array(
        writeOf.filter((data) => Object.keys(data).length > 0),
        { minLength: 1, maxLength: 8 },
      ),
      writeOf,
      fc.nat(8),
      (past, mine, from) => {
        fc.pre(Object.keys(mine).length > 0);
        const state = emptyTenant();
        write(state, [create("slide", "s1", {})]);
        const rows = [rowOf(state)!.data];
        for (const data of past) {
          const before = state.head.syncId;
          write(state, [update("slide", "s1", data)], { id: "bob" });
          if (state.head.syncId > before) rows.push(rowOf(state)!.data);
        }
        const readAt = 1 + (from % rows.length);
        const now = rows.at(-1)!;
        // Naively: which of my fields did any later row change, and which of those would I change?
        const clobbered = fields.some(
          (name) =>
            mine[name] !== undefined &&
            mine[name] !== now[name] &&
            rows.slice(readAt).some((row, i) => row[name] !== rows[readAt - 1 + i]![name]),
        );
        expect(outcomeOf(write(state, [update("slide", "s1", mine, { readAt })]))).toBe(
          clobbered ? "stale_context" : "confirmed",
        );
      },
    ),
    { seed: 20_260_131 },
  );
});
