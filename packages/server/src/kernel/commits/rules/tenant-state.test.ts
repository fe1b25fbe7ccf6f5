import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyTenant } from "../../../testing/tenant.ts";
import { scopeOf } from "../../tokens/rules/scope.ts";
import {
  type FiledEntry,
  type GroupHead,
  newerEntries,
  newestOfOthers,
  nextGroupHead,
  type RecordState,
  writerName,
} from "./tenant-state.ts";

test("[S11] two positions give every writer the newest entry that is not its own", () => {
  // Null is a writer without a client id: nothing is ever its own.
  const writers = fc.constantFrom<string | null>(null, "user:a/1", "user:a/2", "user:b/1", "agent:c/9");
  fc.assert(
    fc.property(fc.array(writers, { maxLength: 40 }), writers, (log, asking) => {
      let head: GroupHead | undefined;
      for (const [i, writer] of log.entries()) head = nextGroupHead(head, i + 1, writer);
      const naive = log.reduce((newest, writer, i) => (writer !== null && writer === asking ? newest : i + 1), 0);
      expect(newestOfOthers(head, asking)).toBe(naive);
    }),
    { seed: 20_260_131 },
  );
});

test("[S11] a round's own heads, laid over the stored ones, say the same as one entry after the other", () => {
  const writers = fc.constantFrom<string | null>(null, "a", "b", "c");
  fc.assert(
    fc.property(
      fc.array(writers, { maxLength: 12 }),
      fc.array(writers, { minLength: 1, maxLength: 12 }),
      (before, round) => {
        let stored: GroupHead | undefined;
        for (const [i, writer] of before.entries()) stored = nextGroupHead(stored, i + 1, writer);
        let ours: GroupHead | undefined;
        let whole = stored;
        for (const [i, writer] of round.entries()) {
          ours = nextGroupHead(ours, before.length + i + 1, writer);
          whole = nextGroupHead(whole, before.length + i + 1, writer);
        }
        // As `saveRound` merges: the round's other, else the stored other of the same writer, else the stored newest.
        const merged =
          stored === undefined || ours!.otherSyncId > 0
            ? ours!.otherSyncId
            : ours!.writer !== null && ours!.writer === stored.writer
              ? stored.otherSyncId
              : stored.syncId;
        expect({ ...ours, otherSyncId: merged }).toEqual(whole);
      },
    ),
    { seed: 20_260_131 },
  );
});

test("[S7] a writer without a client id has no name of its own", () => {
  expect(writerName({ writtenBy: "user:a", clientId: null })).toBeNull();
  expect(writerName({ writtenBy: "user:a", clientId: "c" })).toBe("user:a/c");
});

const record = (syncId: number): RecordState => ({
  syncId,
  data: { id: "s1" },
  archivedAt: null,
  groups: [],
  createdSyncId: 1,
  createdBy: "user:ann",
  createdAt: "",
  updatedAt: "",
  updatedBy: "user:bob",
});
const past = (syncId: number, writtenBy = "user:bob", clientId: string | null = null): FiledEntry => ({
  groups: ["deck:1"],
  syncId,
  verb: "updated",
  changedFields: ["title"],
  writtenBy,
  clientId,
});
const me = { writtenBy: "user:ann", clientId: "tab" };

function tenant(syncId: number | null, history: FiledEntry[], trimmedTo = 0) {
  const state = emptyTenant();
  state.head = { ...state.head, syncId: 100, trimmedTo };
  state.records.set("slide/s1", syncId === null ? null : record(syncId));
  state.history.set("slide/s1", history);
  return state;
}
const newer = (state: ReturnType<typeof tenant>, readAt: number) =>
  newerEntries(state, "slide/s1", readAt, me, undefined);

test("[S8] a record whose last position was read is fresh, whatever else the log holds", () => {
  expect(newer(tenant(5, [past(5)]), 5)).toEqual([]);
  expect(newer(tenant(5, [past(5)], 90), 5)).toEqual([]);
});

test("[S8] only what came after the position counts, and only others'", () => {
  const theirs = past(8);
  expect(newer(tenant(9, [past(3), theirs, past(9, "user:ann", "tab")]), 4)).toEqual([theirs]);
});

test.each([
  ["the record's last entry was trimmed away too", 50, []],
  ["the record's last entry is still there", 80, [past(80)]],
  ["and was the writer's own", 80, [past(80, "user:ann", "tab")]],
])("[S8] when the log no longer reaches back to the position, the whole record has moved: %s", (_, syncId, history) => {
  expect(newer(tenant(syncId, history, 60), 10)).toContainEqual(expect.objectContaining({ changedFields: null }));
});

test("[S8] a log trimmed exactly to the position still has all newer entries", () => {
  const theirs = past(80);
  expect(newer(tenant(80, [theirs], 60), 60)).toEqual([theirs]);
});

test("[S6] a record that is gone has the entries that took it away", () => {
  const deletion = { ...past(8), verb: "deleted" as const, changedFields: null };
  expect(newer(tenant(null, [deletion]), 5)).toEqual([deletion]);
});

test("[K5] for a deleted record a scoped writer sees only what happened within its groups", () => {
  const elsewhere = { ...past(8), groups: ["deck:2"] };
  const asked = (groups: string[], syncId: number | null) =>
    newerEntries(
      tenant(syncId, [elsewhere]),
      "slide/s1",
      5,
      me,
      scopeOf("org_1", { operations: ["*.*"], syncGroups: groups, onBehalfOf: [] }),
    );
  expect(asked(["deck:1"], null)).toEqual([]);
  expect(asked(["deck:2"], null)).toEqual([elsewhere]);
  expect(asked(["org:org_1"], null)).toEqual([elsewhere]);
  expect(asked(["deck:1"], 8)).toEqual([elsewhere]);
});

test("[K5] for a record that moved into view a scoped writer sees the move, and no changes from before", () => {
  const elsewhere = { ...past(8, "agent:hidden"), groups: ["deck:2"] };
  const bringer = { ...past(9), changedFields: ["deckId"] };
  const scope = scopeOf("org_1", { operations: ["*.*"], syncGroups: ["deck:1"], onBehalfOf: [] });
  const asked = (...history: FiledEntry[]) => newerEntries(tenant(9, history), "slide/s1", 5, me, scope);
  expect(asked(elsewhere, bringer)).toEqual([{ ...elsewhere, syncId: 9, writtenBy: "user:bob" }, bringer]);
  // Also when it was the writer that brought it.
  const own = { ...bringer, writtenBy: "user:ann", clientId: "tab" };
  expect(asked(elsewhere, own)).toEqual([{ ...elsewhere, syncId: 9, writtenBy: "user:ann", clientId: "tab" }]);
});
