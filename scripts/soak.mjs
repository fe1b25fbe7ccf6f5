import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureChromium } from "./browser.mjs";
import { runTool } from "./command.mjs";
import { root } from "./root.mjs";

const results = join(root, "test-results");

/**
 * Runs the tests that need long, kills, stalls, real clocks, new seeds or a quiet machine: `*.soak.test.ts` and
 * `*.soak.spec.ts`. One after the other, since some of them measure time. Also the tests of properties, with new seeds.
 * All parts run, also if the first one fails.
 * @param {string[]} subjects parts of paths; without one, all tests run
 * @param {(line: string) => void} say
 * @returns {Promise<number>} the exit code
 */
export async function soak(subjects, say) {
  process.env.CHROMIUM_PATH = ensureChromium(say);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results);
  process.env.PLAYWRIGHT_JSON_OUTPUT_FILE = join(results, "playwright-soak.json");
  const properties = await runProperties(subjects, say);
  const vitest = await runTool("vitest", [
    ...["run", "--project=soak", "--project=packages-soak", "--no-file-parallelism", "--passWithNoTests"],
    ...["--reporter=default", "--reporter=json", `--outputFile.json=${join(results, "vitest-soak.json")}`],
    ...subjects,
  ]);
  const playwright = await runTool(
    "playwright",
    [
      ...["test", "-c", "e2e/playwright.config.ts", "--project=soak", "--workers=1"],
      ...["--pass-with-no-tests", "--reporter=list,json", ...subjects],
    ],
    "e2e",
  );
  return properties || vitest || playwright;
}

/**
 * The gate runs properties with a pinned seed; here they get a new one.
 * @param {string[]} subjects
 * @param {(line: string) => void} say
 */
async function runProperties(subjects, say) {
  const files = execFileSync("git", ["grep", "-l", 'from "fast-check"', "--", "*.test.ts"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => file !== "" && (subjects.length === 0 || subjects.some((subject) => file.includes(subject))));
  if (files.length === 0) return 0;
  process.env.HOLDFAST_PROPERTY_SEED ??= String(Math.floor(Math.random() * 2 ** 31));
  say(`properties with the seed ${process.env.HOLDFAST_PROPERTY_SEED} (HOLDFAST_PROPERTY_SEED runs them again) …`);
  return runTool("vitest", ["run", "--project=unit", "--project=pg", ...files]);
}
