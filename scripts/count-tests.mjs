// Prints "N passed, N failed" from the reports of the last run. Its one argument is the exit code of that run: a run
// that failed before any test did, or between them, has at least one failure.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

const results = join(root, "test-results");
const counts = [countVitest(read("vitest.json")), countPlaywright(read("playwright.json"))];
const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
const exitCode = Number(process.argv[2] ?? 0);
process.stdout.write(`${passed} passed, ${exitCode === 0 ? failed : Math.max(failed, 1)} failed\n`);
process.exitCode = failed > 0 && exitCode === 0 ? 1 : exitCode;

/** @param {any} report */
function countVitest(report) {
  if (!report) return { passed: 0, failed: 0 };
  // A file that could not be loaded has no test to count, and is a failure all the same.
  const broken = report.testResults.filter((/** @type {any} */ file) => {
    return file.status === "failed" && file.assertionResults.length === 0;
  });
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

/** @param {any} report */
function countPlaywright(report) {
  if (!report) return { passed: 0, failed: 0 };
  const { expected, flaky, unexpected } = report.stats;
  return { passed: expected + flaky, failed: unexpected + report.errors.length };
}

/** @param {string} name */
function read(name) {
  const file = join(results, name);
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  } catch {
    // A report cut off in the middle counts nothing; the exit code tells of the failure.
    return undefined;
  }
}
