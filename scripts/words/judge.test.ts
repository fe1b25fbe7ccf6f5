import { expect, test } from "vitest";
import { judgeNames, judgeProse } from "./judge.ts";

test.each([
  ["a variable", "const world = 1;"],
  ["a part of a name", "function openWorldNow() {}"],
  ["a constant", "const MAX_WORLDS = 1;"],
  ["a property", "const a = { deskOf: 1 };"],
  ["a type", "interface Ledger {}"],
  ["a private field", "class A { #witness = 1; }"],
])("a retired word is found in %s", (_, text) => {
  expect(judgeNames("a.ts", text)).toHaveLength(1);
});

test("strings, comments and longer words are left alone", () => {
  expect(judgeNames("a.ts", `// the world\nconst worldly = "world";`)).toEqual([]);
});

test("prose is searched outside of code, and the line is told", () => {
  const page = "One.\n\nNobody reads `whoever`.\n\n```ts\nconst somebody = 1;\n```\n";
  expect(judgeProse("a.md", page)).toEqual(['a.md:3 says "nobody": name the actor']);
});
