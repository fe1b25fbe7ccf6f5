import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { sourceFiles } from "./source-files.ts";
import { judgeTests } from "./tests/judge.ts";

// Refuses tests that judge the machine instead of the code, or that cannot fail: CONTRIBUTING.md lists the kinds.
const files = sourceFiles(["packages", "apps", "e2e", "qa", "scripts", "examples", "site"]).filter((file) =>
  /\.(test|spec)\.tsx?$/.test(file),
);
const readImported = (from: string, name: string) => {
  const file = normalize(join(dirname(from), name));
  // What product code throws is no expectation.
  const isForTests = /(^|\/)testing\/|^(e2e|qa|packages\/conformance)\/|\.test\./.test(file);
  return name.startsWith(".") && isForTests && /\.tsx?$/.test(file) && existsSync(file)
    ? { file, text: readFileSync(file, "utf8") }
    : undefined;
};
const known = new Map();
const faults = files.flatMap((file) => judgeTests(file, readFileSync(file, "utf8"), readImported, known));
for (const fault of faults) console.error(`tests: ${fault}`);
console.error(`tests: ${files.length} test files, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
