import { expect, test } from "vitest";
import { behaviourPage } from "../docs/behaviour-page.ts";
import { judgeFiles } from "./judge-files.ts";

const queue = "# Queue [Q]\n\nHow writes wait.\n\n- **[Q1]** First come, first sent.\n";
const claims = "# Claims [A]\n\n- **[A1]** One holder.\n";

/** What is found if exactly these files are there, listed, and joined. */
function judge(files: Record<string, string>, other: Partial<Parameters<typeof judgeFiles>[0]> = {}) {
  const found = new Map(Object.entries(files));
  return judgeFiles({ listed: Object.keys(files), found, page: behaviourPage(found), ...other });
}

test("files that are listed, joined and different have no faults", () => {
  expect(judge({ "a/RULES.md": queue, "b/RULES.md": claims })).toEqual([]);
});

test("a page that lacks a change of a rule is out of date", () => {
  const page = behaviourPage(new Map([["a/RULES.md", queue]]));
  expect(judge({ "a/RULES.md": queue.replace("sent", "stored") }, { page })).toEqual([
    "BEHAVIOR.md is out of date: run npm run docs:write",
  ]);
});

test("a rule in two files is named with both", () => {
  expect(judge({ "a/RULES.md": queue, "b/RULES.md": queue })).toEqual([
    "[Q1] is in a/RULES.md and again in b/RULES.md: take Q2",
  ]);
});

test("a RULES.md that is in no list is named", () => {
  const listed = ["a/RULES.md"];
  const page = behaviourPage(new Map([["a/RULES.md", queue]]));
  expect(judge({ "a/RULES.md": queue, "b/RULES.md": claims }, { listed, page })).toEqual([
    "b/RULES.md is in no list: add it to ruleFiles in scripts/docs/behaviour-page.ts",
  ]);
});

test("a listed file that is gone is named", () => {
  const listed = ["a/RULES.md", "b/RULES.md"];
  expect(judge({ "a/RULES.md": queue }, { listed })).toContain(
    "scripts/docs/behaviour-page.ts lists b/RULES.md, which does not exist",
  );
});

test("a rule under the heading of other letters is named", () => {
  expect(judge({ "a/RULES.md": `${queue}- **[A1]** One holder.\n` })).toEqual([
    "a/RULES.md has [A1] in the section [Q]",
  ]);
});

test("a rule that is too long is named; its characters are counted, not their code units", () => {
  const rule = (says: string) => `# Queue [Q]\n\n- **[Q1]** ${says}\n`;
  expect(judge({ "a/RULES.md": rule("😀".repeat(10)) }, { longest: 10 })).toEqual([]);
  expect(judge({ "a/RULES.md": rule("😀".repeat(11)) }, { longest: 10 })).toEqual([
    "a/RULES.md: [Q1] has 11 characters (up to 10): write one fact a rule",
  ]);
});

test("a rule that goes on in a second line is named, because its length would not count", () => {
  expect(judge({ "a/RULES.md": `${queue}  And more.\n` })).toEqual([
    "a/RULES.md:6 begins with a space: a rule is one line",
  ]);
});
