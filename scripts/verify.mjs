import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureChromium } from "./browser.mjs";
import { runNode, runTool } from "./command.mjs";
import { coverageLines } from "./coverage.mjs";
import { root } from "./root.mjs";

/** Where the runners leave what they counted, for count-tests.mjs. */
const results = join(root, "test-results");

/**
 * Many tests are about limits of time, and a shared machine may stand still for longer than those. What is wrong fails
 * twice; both runners say which test needed its second try. Run by hand, a test has one.
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
  e2e: () =>
    runTool(
      "playwright",
      ["test", "-c", "e2e/playwright.config.ts", "--project=gate", "--retries=1", "--reporter=list,json"],
      "e2e",
    ),
};

/** @param {string} name of the report */
const vitestReport = (name) => ["--reporter=default", "--reporter=json", `--outputFile.json=${join(results, name)}`];

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
  process.env.PLAYWRIGHT_JSON_OUTPUT_FILE = join(results, "playwright.json");

  const startedAt = Date.now();
  for (const [name, step] of Object.entries(verifySteps)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const stepStartedAt = Date.now();
    say(`${name} …`);
    const code = await step(withCoverage);
    if (code !== 0) {
      say(`${name} failed after ${seconds(stepStartedAt)}; the following steps were skipped`);
      return code;
    }
    say(`${name} ✓ ${seconds(stepStartedAt)}`);
  }
  if (withCoverage) for (const line of coverageLines(join(results, "coverage", "coverage-summary.json"))) say(line);
  say(`all steps passed in ${seconds(startedAt)}`);
  return 0;
}

/** @param {number} since */
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** @param {string} line */
function say(line) {
  process.stderr.write(`holdfast: ${line}\n`);
}
