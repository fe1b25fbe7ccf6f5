import { expect, test } from "vitest";
import { mergeWords } from "./merge-words.ts";

const long = "word ".repeat(1_500);

test.each([
  ["different words", "the red old house", "the green old house", "the red old mill", "the green old mill"],
  ["one side only", "the red house", "the red house", "a red house", "a red house"],
  ["the same change", "the red house", "the blue house", "the blue house", "the blue house"],
  ["words added at both ends", "red house", "The red house", "red house, sold", "The red house, sold"],
  [
    "something taken away, something added",
    "one two three four",
    "one three four",
    "one two three four five",
    "one three four five",
  ],
  ["from nothing", "", "", "something", "something"],
  ["a line that only one side began", "One. Two.", "One. Two.", "One.\n\nTwo.", "One.\n\nTwo."],
  ["different lines", "A a.\n\nB b.\n\nC c.", "A x.\n\nB b.\n\nC c.", "A a.\n\nB b.\n\nC y.", "A x.\n\nB b.\n\nC y."],
])("%s", (_, base, mine, theirs, text) => {
  expect(mergeWords(base, mine, theirs)).toBe(text);
  expect(mergeWords(base, theirs, mine)).toBe(text);
});

test.each([
  ["the same word, changed twice", "the red house", "the green house", "the blue house"],
  ["words side by side", "the red house", "the green house", "the red mill"],
  ["both added to nothing", "", "Mine", "Theirs"],
  ["changed here and taken away there", "one two", "one 2", "one"],
  ["texts that are too long to be compared", long, `${long}more`, `less ${long}`],
])("%s: not merged", (_, base, mine, theirs) => {
  expect(mergeWords(base, mine, theirs)).toBeUndefined();
});
