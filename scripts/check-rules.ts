import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { ruleFiles } from "./docs/behaviour-page.ts";
import { isSection, judgeRules } from "./rules/judge.ts";
import { judgeFiles } from "./rules/judge-files.ts";
import { sourceFiles } from "./source-files.ts";

// Refuses a rule of a RULES.md that no test quotes in its title, a test that quotes a rule written nowhere, a rule that is too
// long, and a BEHAVIOR.md that is not what the files of rules say.
const read = (file: string) => readFileSync(file, "utf8");
const found = execFileSync(
  "git",
  ["ls-files", "-co", "--exclude-standard", "--deduplicate", "RULES.md", "**/RULES.md"],
  {
    encoding: "utf8",
  },
)
  .split("\n")
  .filter((file) => file !== "" && existsSync(file));
const rulesByFile = new Map(found.map((file) => [file, read(file)]));
const tests = sourceFiles(["packages", "apps", "e2e", "qa", "site"]).filter(
  (file) => /\.(test|spec)\.tsx?$/.test(file) || isSection(file),
);
const { complaints, rules } = judgeRules([...rulesByFile.values()], new Map(tests.map((file) => [file, read(file)])));
complaints.push(...judgeFiles({ listed: ruleFiles, found: rulesByFile, page: read("BEHAVIOR.md") }));
for (const complaint of complaints) console.error(`rules: ${complaint}`);
console.error(
  `rules: ${rules} rules in ${found.length} files, ${tests.length} test files, ${complaints.length} complaints`,
);
process.exitCode = complaints.length > 0 ? 1 : 0;
