import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

/** Where a run lists the tests that passed only at their second try: `[{ file, title }]`. */
const list = join(root, "test-results", "second-try.json");

/** @returns {{ file: string, title: string }[]} */
export function readSecondTries() {
  try {
    return JSON.parse(readFileSync(list, "utf8"));
  } catch {
    // No test needed one yet.
    return [];
  }
}

/** @param {{ file: string, title: string }[]} more */
export function addSecondTries(more) {
  writeFileSync(list, `${JSON.stringify([...readSecondTries(), ...more], undefined, 2)}\n`);
}

/**
 * The flaky tests of a report of Playwright.
 * @param {any} report
 * @returns {{ file: string, title: string }[]}
 */
export const flakyOf = ({ suites = [], specs = [] }) => [
  ...specs
    .filter((/** @type {any} */ { tests }) => tests.some((/** @type {any} */ { status }) => status === "flaky"))
    .map((/** @type {any} */ { file, title }) => ({ file: `e2e/${file}`, title })),
  ...suites.flatMap(flakyOf),
];
