import { expect, test } from "vitest";
import { nextCopy, sourceOf } from "./replay.ts";

const deck = (sha256: string) => ({ metadata: JSON.stringify({ fileName: "notes.md", sha256 }) });

test("[Y14] a deck names the file that it was made of", () => {
  expect(sourceOf(deck("a"))).toEqual({ name: "notes.md", hash: "a" });
});

test.each([[{}], [{ metadata: "" }], [{ metadata: "null" }], [{ metadata: "{}" }], [{ metadata: "no JSON" }]])(
  "[Y14] %j was not imported",
  (deck) => {
    expect(sourceOf(deck)).toBeUndefined();
  },
);

test("[Y14] each replay of a file is one more copy of it", () => {
  const source = { name: "notes.md", hash: "a" };
  expect(nextCopy(source, [deck("a")])).toBe(2);
  expect(nextCopy(source, [deck("a"), deck("b"), {}, deck("a")])).toBe(3);
});
