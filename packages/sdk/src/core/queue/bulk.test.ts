import { expect, test } from "vitest";
import { limits } from "../../protocol/limits.ts";
import { blockedNames } from "./blocked.ts";
import { bulkBody, nextBulk } from "./bulk.ts";
import { keysOf, type Mutation, type Stage } from "./mutation.ts";
import { emptyQueue, withMutations } from "./queue.ts";

let seq = 0;
function write(name: string, record: string, phase: Stage["phase"] = "queued", more: Partial<Mutation> = {}): Mutation {
  const records = record.split(" ");
  const operations = records.map(
    (id) => ({ action: "update", model: "slide", id, onStale: "notify", base: null }) as const,
  );
  const stage = { phase } as Stage;
  return {
    clientTxId: name,
    seq: phase === "saving" ? undefined : ++seq,
    operations,
    reads: [],
    body: `{"clientTxId":"${name}"}`,
    bytes: 100,
    createdAt: 0,
    owner: null,
    attempts: 0,
    keys: keysOf(operations),
    echoed: [],
    stage: phase === "conflicted" ? { phase, notifications: [], conflictedAfter: 0 } : stage,
    ...more,
  };
}
const names = (writes: readonly Mutation[], size = 100) =>
  nextBulk({ queue: withMutations(emptyQueue, writes), models: {} }, size).map((m) => m.clientTxId);

test("[Q3] a bulk holds what is queued, in queue order, up to the number of commits", () => {
  expect(names([write("a", "1", "confirmed"), write("b", "1"), write("c", "2"), write("d", "1")], 2)).toEqual([
    "b",
    "c",
  ]);
});

test("[Q3] a bulk stays below 256 KiB and 1 000 operations, yet a large write goes alone", () => {
  const bytes = limits.bulkBodyBytes / 2 - 50;
  expect(names([write("a", "1", "queued", { bytes }), write("b", "2", "queued", { bytes }), write("c", "3")])).toEqual([
    "a",
    "b",
  ]);
  expect(names([write("a", "1", "queued", { bytes: limits.bulkBodyBytes + 1 }), write("b", "2")])).toEqual(["a"]);
  const operations = Array.from({ length: 100 }, () => write("x", "1").operations[0]!);
  expect(names(Array.from({ length: 12 }, (_, i) => write(`w${i}`, `r${i}`, "queued", { operations })))).toHaveLength(
    10,
  );
});

test("[Q3] the body is the stored texts, byte for byte", () => {
  const bulk = [write("a", "1"), write("b", "2")];
  expect(bulkBody(bulk)).toBe('{"commits":[{"clientTxId":"a"},{"clientTxId":"b"}]}');
});

test("[R23] before its text each write names the log that its positions count in, if it has read one", () => {
  const bulk = [
    { ...write("a", "1"), logId: "log_1" },
    { ...write("b", "2"), logId: undefined },
  ];
  expect(bulkBody(bulk)).toBe('{"commits":[{"logId":"log_1","clientTxId":"a"},{"clientTxId":"b"}]}');
});

test.each(["conflicted", "rejected", "saving"] as const)(
  "[Q10] behind a %s write its records wait, and what builds on those",
  (phase) => {
    const queue = [write("a", "1", phase), write("b", "1 2"), write("c", "2"), write("d", "3")];
    // Ordered by hand: a write that is being saved has no place yet, one that takes the place of another has.
    expect(names(queue.map((m, i) => ({ ...m, seq: i + 1 })))).toEqual(["d"]);
  },
);

test("[Q10] only what waits for a person counts as blocked", () => {
  const conflicted = withMutations(emptyQueue, [write("a", "1", "rejected"), write("b", "1"), write("c", "2")]);
  expect([...blockedNames({ queue: conflicted, models: {} })]).toEqual(["b"]);
});
