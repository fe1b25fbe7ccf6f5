import fc from "fast-check";
import { expect, test } from "vitest";
import { longText as long } from "../testing/long-text.ts";
import { mergeText } from "./merge-text.ts";
import { tokensOf } from "./tokens.ts";

const CONFLICT = { conflict: true };

test.each([
  ["words at two places", "one two three", "uno two three", "one two tre", "uno two tre"],
  ["an insertion and a change", "Hello world", "Hello world!", "Hello earth", "Hello earth!"],
  ["two insertions", "a b c", "a new b c", "a b c end", "a new b c end"],
  ["a deletion and a change", "one two three four", "one three four", "one two three five", "one three five"],
  ["two lines", "first\nsecond\nthird\n", "First\nsecond\nthird\n", "first\nsecond\nThird\n", "First\nsecond\nThird\n"],
  ["Windows line ends", "one\r\ntwo\r\n", "1\r\ntwo\r\n", "one\r\n2\r\n", "1\r\n2\r\n"],
  ["the same change on both sides", "a teh b", "a the b", "a the b", "a the b"],
  ["the same change, and another", "a teh b", "A the b", "a the b", "A the b"],
  ["texts without spaces", "今日は晴れです", "昨日は晴れです", "今日は雨です", "昨日は雨です"],
  ["emoji", "👍🏽 and 👨‍👩‍👧", "👍🏽 and 👨‍👩‍👦", "👎🏽 and 👨‍👩‍👧", "👎🏽 and 👨‍👩‍👦"],
  ["flags", "🇩🇪 x 🇫🇷", "🇦🇹 x 🇫🇷", "🇩🇪 x 🇧🇪", "🇦🇹 x 🇧🇪"],
  ["nothing of mine", "a", "a", "b", "b"],
  ["nothing of theirs", "a", "b", "a", "b"],
])("[MT1] changes in different places both stay: %s", (_, base, mine, theirs, text) => {
  expect(mergeText(base, mine, theirs)).toEqual({ text });
  expect(mergeText(base, theirs, mine)).toEqual({ text });
});

test.each([
  ["one word in two ways", "a b c", "a X c", "a Y c"],
  ["two texts where there was none", "", "mine", "theirs"],
  ["two insertions at one place", "list\n", "list\nmilk\n", "list\nbread\n"],
  ["a deletion around a change", "one two three four", "one four", "one two drei four"],
  ["a joined emoji in two ways", "x 👨‍👩‍👧 y", "x 👨‍👩‍👦 y", "x 👨‍👨‍👧 y"],
  ["two words that would become one", "a,b", "a and b", "ab"],
])("[MT2] changes of the same place conflict: %s", (_, base, mine, theirs) => {
  expect(mergeText(base, mine, theirs)).toEqual(CONFLICT);
  expect(mergeText(base, theirs, mine)).toEqual(CONFLICT);
});

const WORDS = [
  "a",
  "b",
  "word",
  "naïve",
  "e\u0301",
  "日",
  "本",
  "🙂",
  "👍🏽",
  "🇩🇪",
  "\ud83d",
  "\n",
  "\r\n",
  " ",
  "  ",
  ",",
  ".",
  "_",
  "42",
];
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join(""));

test("[MT1] tokens are the text, whatever it contains", () => {
  fc.assert(fc.property(fc.oneof(text, fc.string({ unit: "binary" })), (any) => tokensOf(any).join("") === any));
});

test("[MT1] a merge does not depend on the side, and keeps the text of the only side that changed", () => {
  fc.assert(
    fc.property(text, text, text, (base, mine, theirs) => {
      expect(mergeText(base, mine, theirs)).toEqual(mergeText(base, theirs, mine));
      expect(mergeText(base, mine, base)).toEqual({ text: mine });
      expect(mergeText(base, base, theirs)).toEqual({ text: theirs });
      expect(mergeText(base, mine, mine)).toEqual({ text: mine });
    }),
    { numRuns: 1_000 },
  );
});

test("[MT1] changes of different words both stay, each where it was made", () => {
  const change = fc.constantFrom("keep", "replace", "delete", "insert");
  fc.assert(
    fc.property(
      fc.array(fc.tuple(change, fc.constantFrom("mine", "theirs")), { minLength: 1, maxLength: 40 }),
      (changes) => {
        // An unchanged word between any two, so that no two changes touch.
        const written = (sides: readonly string[]) =>
          changes
            .map(([what, side], i) => {
              const done = sides.includes(side) ? what : "keep";
              const word = { keep: `w${i}`, replace: `${side}${i}`, delete: "", insert: `w${i} ${side}${i}` }[done];
              return `${word} fixed${i}`;
            })
            .join(" ");
        const merged = mergeText(written([]), written(["mine"]), written(["theirs"]));
        expect(merged).toEqual({ text: written(["mine", "theirs"]) });
      },
    ),
    { numRuns: 500 },
  );
});

test("[MT1] a merge never leaves half of a surrogate pair", () => {
  const emoji = fc.array(fc.constantFrom("😀", "😁", "🂡", "a", " "), { maxLength: 12 }).map((all) => all.join(""));
  fc.assert(
    fc.property(emoji, emoji, emoji, (base, mine, theirs) => {
      const merged = mergeText(base, mine, theirs);
      if ("text" in merged) expect(merged.text).not.toMatch(/\p{Cs}/u);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["unrelated texts", long(1), long(2), long(3)],
  ["one word repeated", "a ".repeat(50_000), "a b ".repeat(25_000), "c a ".repeat(25_000)],
  ["whitespace", " ".repeat(100_000), "\n".repeat(100_000), "\t".repeat(100_000)],
  ["punctuation", ".".repeat(100_000), ",.".repeat(50_000), ".;".repeat(50_000)],
  ["marks", `a${"\u0301".repeat(100_000)}`, `b${"\u0301".repeat(100_000)}`, "\u0301".repeat(100_000)],
  ["joiners", "\u200d".repeat(100_000), "a\u200d".repeat(50_000), "🙂\u200d".repeat(30_000)],
])("[MT3] texts of 100 kB are merged, or conflict, in little time: %s", (_, base, mine, theirs) => {
  // 0.2 s; without a bound it would be minutes, beyond the time of a test.
  expect(() => mergeText(base, mine, theirs)).not.toThrow();
});

test("[MT3] two distant edits of a long text are merged, also if one side has replaced much", () => {
  const base = long(1);
  const [mine, theirs] = [`Mine. ${base}`, `${base.slice(0, 60_000)} ${long(2)} end`];
  expect(mergeText(base, mine, theirs)).toEqual({ text: `Mine. ${theirs}` });
});
