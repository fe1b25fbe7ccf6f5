import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureChromium } from "./browser.mjs";
import { runNode, runTool } from "./command.mjs";
import { coverageLines } from "./coverage.mjs";
import { root } from "./root.mjs";
import { addSecondTries, flakyOf, readSecondTries } from "./second-try.mjs";

/** Where the runners leave what they counted, for count-tests.mjs. */
const results = join(root, "test-results");
const browserReport = join(results, "playwright.json");

/**
 * A shared machine may stand still at any moment. A second try keeps such a moment from stopping everyone's work, and the
 * last lines name the tests that needed one: each of them is a defect of the test or of the product. Run by hand, a test
 * has one try.
 */
const ONCE_MORE = "--retry=1";

/** The projects of tests that need no packed package. They are named: two that are left out would each bring the other back. */
const FROM_SOURCES = ["unit", "dom", "dom-18", "pg", "web"];

/**
 * In the order in which they find most for the least time.
 * @type {Record<string, (withCoverage: boolean) => Promise<number>>}
 */
export const verifySteps = {
  browser: async () => {
    process.env.CHROMIUM_PATH = ensureChromium(say);
    return 0;
  },
  types: () => runTool("tsc", ["-b"]),
  // Named alone, it would read what an older build has left.
  api: async () => (await runTool("tsc", ["-b"])) || runNode(["scripts/write-api.ts", "--check"]),
  layers: () => runNode(["scripts/check-layers.ts"]),
  rules: () => runNode(["scripts/check-rules.ts"]),
  words: () => runNode(["scripts/check-words.ts"]),
  "check-tests": () => runNode(["scripts/check-tests.ts"]),
  format: () => runTool("biome", ["check", "--error-on-warnings"]),
  tests: (withCoverage) =>
    runTool("vitest", [
      "run",
      ...FROM_SOURCES.map((name) => `--project=${name}`),
      ONCE_MORE,
      ...(withCoverage ? ["--coverage"] : []),
      ...vitestReport("vitest.json"),
    ]),
  size: () => runNode(["scripts/size.ts"]),
  packages: () => runTool("vitest", ["run", "--project=packages", ONCE_MORE, ...vitestReport("packages.json")]),
  e2e: async () => {
    const code = await runTool(
      "playwright",
      ["test", "-c", "e2e/playwright.config.ts", "--project=gate", "--retries=1", "--reporter=list,json"],
      "e2e",
    );
    // There is no report if Playwright could not start.
    if (existsSync(browserReport)) addSecondTries(flakyOf(JSON.parse(readFileSync(browserReport, "utf8"))));
    return code;
  },
};

/** @param {string} name of the report */
const vitestReport = (name) => [
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${join(results, name)}`,
  `--reporter=${join(root, "scripts", "second-try-reporter.mjs")}`,
];

/** Also reports how much of each package the tests run through. */
const COVERAGE = "--coverage";

/**
 * All steps one after the other, or those that are named; the first that fails ends it.
 * @param {string[]} words names of steps, and `--coverage`
 * @returns {Promise<number>} the exit code
 */
export async function verify(words) {
  const names = words.filter((word) => word !== COVERAGE);
  const withCoverage = words.includes(COVERAGE);
  const unknown = names.find((name) => !(name in verifySteps));
  if (unknown) throw new Error(`There is no step "${unknown}". The steps are: ${Object.keys(verifySteps).join(", ")}.`);
  if (!existsSync(join(root, "node_modules", ".bin")))
    throw new Error("No packages are installed yet: run `npm test` once.");
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results);
  process.env.PLAYWRIGHT_JSON_OUTPUT_FILE = browserReport;

  const startedAt = Date.now();
  for (const [name, step] of Object.entries(verifySteps)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const stepStartedAt = Date.now();
    say(`${name} …`);
    const code = await step(withCoverage);
    if (code !== 0) {
      say(`${name} failed after ${seconds(stepStartedAt)}; the following steps were skipped`);
      saySecondTries();
      return code;
    }
    say(`${name} ✓ ${seconds(stepStartedAt)}`);
  }
  if (withCoverage) for (const line of coverageLines(join(results, "coverage", "coverage-summary.json"))) say(line);
  say(`all steps passed in ${seconds(startedAt)}`);
  saySecondTries();
  return 0;
}

function saySecondTries() {
  const tests = readSecondTries();
  if (tests.length === 0) return;
  say(`${tests.length} passed only at a second try (test-results/second-try.json); each is a defect to mend:`);
  for (const { file, title } of tests) say(`  ${file}: ${title}`);
}

/** @param {number} since */
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** @param {string} line */
function say(line) {
  process.stderr.write(`holdfast: ${line}\n`);
}
