import { expect, test } from "vitest";
import { textDiff } from "./text-diff.ts";

const drawn = (before: string, after: string) =>
  textDiff(before, after)
    .map(({ kind, text }) => (kind === "kept" ? text : kind === "removed" ? `[-${text}]` : `[+${text}]`))
    .join("");

test.each([
  ["teh deck", "the deck", "[-teh ][+the ]deck"],
  [`Say "so" now`, "Say “so” now", `Say [-"so" ][+“so” ]now`],
  ["the the end", "the end", "the [-the ]end"],
  ["end", "the end", "[+the ]end"],
  ["a b c d e f g teh", "a b c d e f g the", "…d e f g [-teh][+the]"],
  ["teh a b c d e f", "the a b c d e f", "[-teh ][+the ]a b c d …"],
  ["teh a b c d e f g h i teh", "the a b c d e f g h i the", "[-teh ][+the ]a b c d … f g h i [-teh][+the]"],
  ["", "new", "[+new]"],
])("[Y13] %j to %j", (before, after, expected) => {
  expect(drawn(before, after)).toBe(expected);
});

test("[Y13] a text that is too long to compare is shown whole", () => {
  const long = "word ".repeat(1_100);
  expect(textDiff(long, `${long}!`).map(({ kind }) => kind)).toEqual(["removed", "added"]);
});
