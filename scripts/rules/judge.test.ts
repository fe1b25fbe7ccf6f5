import { expect, test } from "vitest";
import { judgeRules } from "./judge.ts";

const book = "# Queue [Q]\n\n- **[Q1]** First come, first sent.\n- **[Q2]** Nothing is sent twice; see [Q1].\n";
const judge = (tests: string) => judgeRules([book], new Map([["a.test.ts", tests]])).complaints;

test("a rule that no test quotes is named", () => {
  expect(judge(`test("[Q1] a", () => {});`)).toEqual(["[Q2] is quoted by no test"]);
});

test("a quoted rule that is not written is named with its file", () => {
  expect(judge(`test("[Q1] [Q2] a", () => {}); test("[Q9] b", () => {});`)).toEqual([
    "a.test.ts quotes [Q9], which is in no RULES.md",
  ]);
});

test.each([
  ["a describe", `describe("[Q1] [Q2]", () => {});`],
  ["a table", `test.each([["[Q1] a", 1], ["[Q2] b", 2]])("%s", () => {});`],
  ["a template", "test.runIf(true)(`[Q1] [Q2] $" + "{a}`, () => {});"],
  ["Playwright", `test.describe("[Q1]", () => { test("[Q2] a", async ({ page }) => {}); });`],
])("quotes are read from %s", (_, tests) => {
  expect(judge(tests)).toEqual([]);
});

test.each([
  ["a skipped test", `test.skip("[Q1] [Q2] a", () => {});`],
  ["a test in a skipped group", `describe.skip("a", () => { test("[Q1] [Q2] a", () => {}); });`],
  ["a comment", "// [Q1] [Q2]"],
  ["the body of a test", `test("a", () => { say("[Q1] [Q2]"); });`],
])("%s quotes nothing", (_, tests) => {
  expect(judge(tests)).toEqual(["[Q1] is quoted by no test", "[Q2] is quoted by no test"]);
});

test("the conformance suite's cases are tests too: their sentences are read, not what they do", () => {
  const cases = `check("[Q1] a.", () => is("[Q2]")); checkEach(["[Q2]"], (row) => \`[Q9] ${"$"}{row}\`, () => {});`;
  const { complaints } = judgeRules([book], new Map([["packages/conformance/src/sections/a/a.ts", cases]]));
  expect(complaints).toEqual([
    "[Q2] is quoted by no test",
    "packages/conformance/src/sections/a/a.ts quotes [Q9], which is in no RULES.md",
  ]);
});
