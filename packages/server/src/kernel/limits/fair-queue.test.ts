import { expect, test } from "vitest";
import { createFairQueue } from "./fair-queue.ts";

const always = () => true;

function takeAll(queue: ReturnType<typeof createFairQueue<string>>, may: (item: string) => boolean = always): string[] {
  const taken: string[] = [];
  queue.take(
    (item) => {
      if (!may(item)) return false;
      taken.push(item);
      return true;
    },
    () => true,
  );
  return taken;
}

test("[L13] tenants take turns, and within a tenant its tokens; a token's own requests stay in order", () => {
  const queue = createFairQueue<string>();
  for (const item of ["a1", "a2", "a3", "a4"]) queue.push(1, "a", item);
  queue.push(1, "b", "b1");
  queue.push(2, "c", "c1");
  queue.push(2, "c", "c2");
  expect(takeAll(queue)).toEqual(["a1", "c1", "b1", "c2", "a2", "a3", "a4"]);
  expect(queue.size).toBe(0);
});

test("[L13] a tenant whose request does not fit keeps its turn, and does not block other tenants", () => {
  const queue = createFairQueue<string>();
  queue.push(1, "a", "large");
  queue.push(2, "b", "b1");
  queue.push(2, "b", "b2");
  expect(takeAll(queue, (item) => item !== "large")).toEqual(["b1", "b2"]);
  queue.push(2, "b", "b3");
  expect(takeAll(queue)).toEqual(["large", "b3"]);
});

test("[L13] a tenant that returns is queued behind all others", () => {
  const queue = createFairQueue<string>();
  queue.push(1, "a", "a1");
  queue.push(1, "a", "a2");
  queue.push(2, "b", "b1");
  const taken: string[] = [];
  const take = (item: string) => taken.push(item) > 0;
  queue.take(take, () => taken.length < 1);
  queue.take(take, () => taken.length < 2);
  expect(taken).toEqual(["a1", "b1"]);
});

test("[L13] an entry that left the queue is not taken, and the others keep their order", () => {
  const queue = createFairQueue<string>();
  for (const item of ["a1", "a2", "a3"]) queue.push(1, "a", item);
  queue.push(2, "b", "b1");
  queue.remove(1, "a", "a2");
  queue.remove(1, "a", "a2");
  queue.remove(2, "b", "b1");
  queue.remove(3, "c", "unknown");
  expect(queue.size).toBe(2);
  expect(queue.sizeOf(1)).toBe(2);
  expect(queue.sizeOf(2)).toBe(0);
  expect(takeAll(queue)).toEqual(["a1", "a3"]);
});
