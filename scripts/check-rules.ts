import { readFileSync } from "node:fs";
import { isSection, judgeRules } from "./rules/judge.ts";
import { sourceFiles } from "./source-files.ts";

// Refuses a rule of docs/behaviour.md that no test quotes in its title, and a test that quotes a rule not written there.
const ruleBook = readFileSync("docs/behaviour.md", "utf8");
const files = sourceFiles(["packages", "apps", "e2e", "qa"]).filter(
  (file) => /\.(test|spec)\.tsx?$/.test(file) || isSection(file),
);
const { complaints, rules } = judgeRules(ruleBook, new Map(files.map((file) => [file, readFileSync(file, "utf8")])));
for (const complaint of complaints) console.error(`rules: ${complaint}`);
console.error(`rules: ${rules} rules, ${files.length} test files, ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;
