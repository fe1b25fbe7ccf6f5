// Prints "N passed, N failed" from the reports of the last run, whose exit code is its one argument.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, root } from "./root.mjs";

/**
 * @param {any[]} vitest its JSON reports, as far as there are any
 * @param {any} playwright the same
 * @param {number} exitCode of the run: one that failed before any test did, or between them, has at least one failure
 */
export function countTests(vitest, playwright, exitCode) {
  const counts = [...vitest.filter(Boolean).map(countVitest), ...(playwright ? [countPlaywright(playwright)] : [])];
  const passed = counts.reduce((sum, count) => sum + count.passed, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  return { passed, failed: exitCode === 0 ? failed : Math.max(failed, 1) };
}

/** @param {any} report */
function countVitest({ numPassedTests, numFailedTests, testResults }) {
  // A file that could not be loaded has no test to count, and is a failure all the same.
  const broken = testResults.filter((/** @type {any} */ { status, assertionResults }) => {
    return status === "failed" && assertionResults.length === 0;
  });
  return { passed: numPassedTests, failed: numFailedTests + broken.length };
}

/** @param {any} report */
function countPlaywright({ stats, errors }) {
  return { passed: stats.expected + stats.flaky, failed: stats.unexpected + errors.length };
}

/** @param {string} name */
function report(name) {
  try {
    return JSON.parse(readFileSync(join(root, "test-results", name), "utf8"));
  } catch {
    // The run did not get that far, or was cut off while writing it: its exit code tells of that.
    return undefined;
  }
}

if (isProgram(import.meta.url)) {
  const exitCode = Number(process.argv[2] ?? 0);
  const { passed, failed } = countTests(
    [report("vitest.json"), report("packages.json")],
    report("playwright.json"),
    exitCode,
  );
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = exitCode === 0 && failed > 0 ? 1 : exitCode;
}
