import { expect, test } from "vitest";
import { behaviourPage, readRuleFiles, ruleFiles } from "./behaviour-page.ts";

test("the page has the sections of each file one level lower, in order, and names the file", () => {
  const page = behaviourPage(
    new Map([
      ["b/RULES.md", "# Queue [Q]\n\nHow.\n\n- **[Q1]** One.\n\n# Rows [R]\n\n- **[R1]** Two.\n"],
      ["a/RULES.md", "# Claims [A]\n\n- **[A1]** Three.\n"],
    ]),
  );
  expect(page.slice(page.indexOf("<!-- b/"))).toBe(
    "<!-- b/RULES.md -->\n\n## Queue [Q]\n\nHow.\n\n- **[Q1]** One.\n\n## Rows [R]\n\n- **[R1]** Two.\n\n" +
      "<!-- a/RULES.md -->\n\n## Claims [A]\n\n- **[A1]** Three.\n",
  );
});

test.each([
  ["a page of docs", "[x](../../docs/limits.md#sizes)", "[x](docs/limits.md#sizes)"],
  ["a file elsewhere", "[x](src/a.ts)", "[x](packages/react/src/a.ts)"],
  ["an address", "[x](https://example.com/a.md)", "[x](https://example.com/a.md)"],
  ["a heading of the page", "[x](#react-v)", "[x](#react-v)"],
])("a link to %s leads from the root to the same place", (_, link, expected) => {
  expect(behaviourPage(new Map([["packages/react/RULES.md", link]]))).toContain(`\n${expected}`);
});

test("the page says at its top that it is joined, and each listed file is there once", () => {
  expect(behaviourPage(readRuleFiles()).split("\n")[2]).toMatch(/^<!-- Joined from the RULES\.md files/);
  expect([...readRuleFiles().keys()]).toEqual([...new Set(ruleFiles)]);
});
