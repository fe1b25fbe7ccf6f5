import { expect, test } from "vitest";
import { chunksOf } from "./chunks.ts";
import { restOf } from "./page-cursor.ts";

const changes = Array.from({ length: 3_000 }, (_, i) => ({
  record: { model: "slide", id: `s${i}` },
  value: undefined,
}));
const page = { logId: "log", stamp: 1, changes, scope: undefined };

test.each<[string, string | undefined, string | null, (string | null)[]]>([
  ["a whole page", "a", "b", ["a", "b"]],
  ["the only page", undefined, null, ["", null]],
  ["a piece of the first page", undefined, restOf(null, 3_000), ["", ""]],
  ["a later piece of it", restOf(null, 3_000), restOf(null, 6_000), ["", ""]],
  ["its last piece", restOf(null, 3_000), "b", ["", "b"]],
  ["a piece of a later page", "a", restOf("a", 3_000), ["a", "a"]],
  ["a later piece of it", restOf("a", 3_000), restOf("a", 6_000), ["a", "a"]],
  ["the last piece of all", restOf("a", 3_000), null, ["a", null]],
])("[N43] of %s, the disk knows only where pages begin", (_, begin, cursor, expected) => {
  expect(chunksOf({ ...page, begin, cursor }).map((chunk) => chunk.cursor)).toEqual(expected);
});

test("[N43] only the first chunk of the first page deletes the rows that are there", () => {
  const firsts = (begin: string | undefined) => chunksOf({ ...page, begin, cursor: "b" }).map(({ first }) => first);
  expect(firsts(undefined)).toEqual([true, false]);
  expect(firsts(restOf(null, 2_000))).toEqual([false, false]);
});
