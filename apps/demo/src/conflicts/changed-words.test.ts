import { expect, test } from "vitest";
import { changedWords } from "./changed-words.ts";

const marked = (base: string, text: string) =>
  changedWords(base, text)
    .map((piece) => (piece.isChanged ? `[${piece.text}]` : piece.text))
    .join("");

test.each([
  ["one two three", "one two three", "one two three"],
  ["one two three", "one 2 three", "one [2] three"],
  ["one two", "one two and more", "one two [and more]"],
  ["", "new", "[new]"],
  ["gone", "", ""],
  ["a\nb", "a\n\nb", "a\n\nb"],
])("%o → %o marks %o", (base, text, expected) => {
  expect(marked(base, text)).toBe(expected);
});

test("texts too long to compare are marked as a whole", () => {
  const long = "word ".repeat(1_500);
  expect(changedWords(long, `${long}!`)).toEqual([{ text: `${long}!`, isChanged: true }]);
  expect(changedWords(long, long)).toEqual([{ text: long, isChanged: false }]);
});
