import { expect, test } from "vitest";
import type { Mutation } from "./mutation.ts";
import { emptyQueue, type Queue, withMutations } from "./queue.ts";
import { withReplaced } from "./queue-changes.ts";

const write = (seq: number, keys: readonly string[], stage: object = { phase: "queued" }) =>
  ({ clientTxId: `tx${seq}`, seq, keys, operations: [], reads: [], echoed: [], stage }) as unknown as Mutation;

const named = (queue: Queue, key: string) => queue.byRecord.get(key);

test("[Q30] a replacement that touches other records has its place among the writes to them", () => {
  const queue = withMutations(emptyQueue, [write(1, ["a"]), write(2, ["b"]), write(3, ["a"]), write(4, ["b", "a"])]);
  const next = withReplaced(queue, "tx3", { ...write(3, ["b", "c"]), clientTxId: "new" });
  expect(["a", "b", "c"].map((key) => named(next, key))).toEqual([["tx1", "tx4"], ["tx2", "new", "tx4"], ["new"]]);
  expect(next.order).toEqual(["tx1", "tx2", "new", "tx4"]);
});

test.each(["conflicted", "rejected", "confirmed"])(
  "[Q34] a %s write that only knows more stays what it is",
  (phase) => {
    const stopped = write(2, ["a"], { phase });
    const queue = withMutations(emptyQueue, [write(1, ["a"]), stopped]);
    const next = withReplaced(queue, "tx2", { ...stopped, lost: {} });
    expect([next.waiting, next.confirmed]).toEqual([queue.waiting, queue.confirmed]);
    expect([...next.waiting, ...next.confirmed]).toEqual(["tx2"]);
  },
);
