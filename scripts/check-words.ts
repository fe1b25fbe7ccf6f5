import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { sourceFiles } from "./source-files.ts";
import { judgeNames, judgeProse } from "./words/judge.ts";

// Refuses words that this project has retired, in names and in the prose of its pages: docs/glossary.md has those in use.
const sources = sourceFiles(["packages", "apps", "e2e", "qa", "scripts", "examples", "site"]).filter(
  (file) => !file.endsWith("scripts/words/retired.ts"),
);
const pages = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], { encoding: "utf8" })
  .split("\n")
  // STYLE.md quotes the words, the benchmarks' page is what their program prints, and the sample deck is a writer's text.
  .filter((file) => file !== "" && !/^(STYLE\.md|docs\/benchmarks\.md|apps\/demo\/sample\/)/.test(file));
const faults = [
  ...sources.flatMap((file) => judgeNames(file, readFileSync(file, "utf8"))),
  ...pages.flatMap((file) => judgeProse(file, readFileSync(file, "utf8"))),
];
for (const fault of faults) console.error(`words: ${fault}`);
console.error(`words: ${sources.length} files and ${pages.length} pages, ${faults.length} retired words`);
process.exitCode = faults.length > 0 ? 1 : 0;
