import fc from "fast-check";
import { expect, test } from "vitest";
import { brokenPattern, faultOfPattern, LONGEST_TEXT } from "./pattern.ts";

const isMatch = (pattern: string, text: string) => brokenPattern({ type: "string", pattern }, text) === undefined;

test.each<[string, string[], string[]]>([
  ["[a-z0-9]+(-[a-z0-9]+)*", ["a", "a-b", "ab1-2c"], ["", "a-", "-a", "a--b", "A"]],
  ["^#[0-9a-f]{6}$", ["#00ff00"], ["#00ff0", "#00ff000", "00ff00"]],
  ["\\d{4}-\\d{2}", ["2026-11"], ["2026-1", "2026-111"]],
  ["a{2,}", ["aa", "aaaa"], ["a", ""]],
  ["a{0,2}b", ["b", "ab", "aab"], ["aaab"]],
  ["(?:red|green|)", ["red", "green", ""], ["re", "redgreen"]],
  ["[^@\\s]+@[^@\\s]+\\.[a-z]{2,}", ["a@b.de"], ["a@b", "a b@c.de"]],
  [".", ["a", "🙂", "ß"], ["", "ab", "\n"]],
  ["\\p{L}+", ["Ärger", "λόγος"], ["a1"]],
  ["[\\]a]\\$\\\\", ["]$\\", "a$\\"], ["b$\\"]],
  ["", [""], ["a"]],
  ["\\$", ["$"], ["", "a"]],
])("[M19] %s matches %j, and not %j", (pattern, good, bad) => {
  expect(faultOfPattern(pattern)).toBeUndefined();
  for (const text of good) expect(isMatch(pattern, text), text).toBe(true);
  for (const text of bad) expect(isMatch(pattern, text), text).toBe(false);
});

test.each([
  ["(a)\\1", "looks beyond"],
  ["a\\b", "looks beyond"],
  ["(?=a)a", "only (?:"],
  ["(?<name>a)", "only (?:"],
  ["a+?", "two quantifiers"],
  ["a**", "two quantifiers"],
  ["*a", "nothing before"],
  ["(a", "without"],
  ["a)", "without"],
  ["[a", "without"],
  ["[b-a]", "no character"],
  ["a^b", "in the middle"],
  ["a{3,2}", "first number is greater"],
  ["a{x}", "no quantifier"],
  ["a}", "closes nothing"],
  ["\\q", "no character"],
  ["a\\", "ends with"],
  ["a{201}", "more than 200 characters"],
  ["((a{50}){50}){50}", "more than 200 characters"],
  ["(a?b?c?d?e?f?g?h?){12}", "too complex"],
  ["a".repeat(201), "more than 200 characters"],
])("[M19] [M41] %s is refused", (pattern, fault) => {
  expect(faultOfPattern(pattern)).toContain(fault);
});

/** Patterns that both engines know, over few characters. */
const { pattern: patterns } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  pattern: fc
    .array(fc.tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "{0,3}", "{1,}")), {
      maxLength: 4,
    })
    .map((parts) => parts.map(([atom, quantifier]) => atom + quantifier).join("")),
  atom: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w"),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`),
    tie("pattern").map((inner) => `(?:${inner})`),
  ),
}));

test("[M19] a text matches what JavaScript's own engine matches", () => {
  fc.assert(
    fc.property(patterns, fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 5 }), (pattern, text) => {
      // JavaScript takes exponential time for nested repetitions.
      fc.pre(pattern.length <= 24 && faultOfPattern(pattern) === undefined);
      expect(isMatch(pattern, text)).toBe(new RegExp(`^(?:${pattern})$`, "u").test(text));
    }),
    { numRuns: 3_000 },
  );
});

test("[M19] [M41] a check takes as long as the text is, for patterns that take JavaScript exponential time", () => {
  const text = `${"a".repeat(LONGEST_TEXT - 1)}!`;
  for (const pattern of ["(a+)+", "(a|a)*", "(a*)*b", "(a?){20}a{20}"]) expect(isMatch(pattern, text)).toBe(false);
  // One of exponential time would not end within the time of a test.
});

test("[M19] a text beyond the limit breaks every pattern", () => {
  expect(isMatch("a*", "a".repeat(LONGEST_TEXT))).toBe(true);
  expect(isMatch("a*", "a".repeat(LONGEST_TEXT + 1))).toBe(false);
});
