import { expect, test } from "vitest";
import { countTests } from "./count-tests.mjs";

const vitest = { numPassedTests: 5, numFailedTests: 0, testResults: [{ status: "passed", assertionResults: [{}] }] };
const playwright = { stats: { expected: 3, flaky: 1, unexpected: 0, skipped: 2 }, errors: [] };

test("both runners are counted together, and every run of one", () => {
  expect(countTests([vitest, vitest, undefined], playwright, 0)).toEqual({ passed: 14, failed: 0 });
});

test("failures of both are counted, and a file that could not be loaded is one", () => {
  const failing = { ...vitest, numFailedTests: 2, testResults: [{ status: "failed", assertionResults: [] }] };
  expect(countTests([failing], { ...playwright, errors: [{}] }, 1)).toEqual({ passed: 9, failed: 4 });
});

test("a run that failed without a failed test has one failure", () => {
  expect(countTests([vitest], undefined, 2)).toEqual({ passed: 5, failed: 1 });
  expect(countTests([undefined], undefined, 1)).toEqual({ passed: 0, failed: 1 });
});
