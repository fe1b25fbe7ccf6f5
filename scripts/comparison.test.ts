import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../docs/comparison.md", import.meta.url), "utf8");
const fileOf = (path: string) => new URL(`../docs/${path}`, import.meta.url);

/** `[name](path) Q8, Q9`: a test, or a section of the conformance suite, and the rules that it proves. */
const proofs = [
  ...page.matchAll(/\[[^\]]+\]\(([^)#]+(?:\.(?:test|spec)\.tsx?|\/sections\/[\w/-]+\.ts))\)((?: ?,? ?[A-Z]+\d+)*)/g),
].map(([, path = "", rules = ""]) => ({ path, rules: rules.match(/[A-Z]+\d+/g) ?? [] }));

test("each problem is linked to a test", () => {
  const [problems = ""] = page.split("\n## Speed\n");
  const rows = problems.split("\n").filter((line) => /^\| (?!problem elsewhere|-)/.test(line));
  expect(rows.length).toBeGreaterThanOrEqual(25);
  expect(rows.filter((line) => !/(\.(test|spec)\.tsx?|\/sections\/[\w/-]+\.ts)\)/.test(line))).toEqual([]);
});

test.each(proofs)("$path is there, and quotes $rules", ({ path, rules }) => {
  const text = readFileSync(fileOf(path), "utf8");
  expect(rules.filter((rule) => !text.includes(`[${rule}]`))).toEqual([]);
});
