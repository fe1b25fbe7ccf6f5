import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const fileOf = (path: string) => new URL(`../${path}`, import.meta.url);

/** `[name](path) Q8, Q9`: a test, and the rules that it proves. */
const proofs = [...readme.matchAll(/\[[^\]]+\]\(([^)#]+\.(?:test|spec)\.tsx?)\)((?: ?,? ?[A-Z]\d+)*)/g)].map(
  ([, path = "", rules = ""]) => ({ path, rules: rules.match(/[A-Z]\d+/g) ?? [] }),
);

test("each of the twenty-five troubles is linked to a test", () => {
  const rows = readme.split("\n").filter((line) => /^\|.*\.(test|spec)\.tsx?\)/.test(line));
  expect(rows).toHaveLength(25);
});

test.each(proofs)("$path is there, and quotes $rules", ({ path, rules }) => {
  const text = readFileSync(fileOf(path), "utf8");
  expect(rules.filter((rule) => !text.includes(`[${rule}]`))).toEqual([]);
});
