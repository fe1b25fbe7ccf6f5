import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
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
  const vitest = await runTool("vitest", [
    "run",
    "--project=soak",
    "--no-file-parallelism",
    "--passWithNoTests",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${join(results, "vitest-soak.json")}`,
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
  const properties = propertyTests().filter(
    (file) => subjects.length === 0 || subjects.some((subject) => file.includes(subject)),
  );
  process.env.HOLDFAST_NEW_SEEDS = "1";
  const drawn =
    properties.length === 0 ? 0 : await runTool("vitest", ["run", "--project=unit", "--project=pg", ...properties]);
  return vitest || playwright || drawn;
}

/** The tests that draw examples with fast-check. The gate pins their seeds. */
function propertyTests() {
  const folders = ["qa", ...readdirSync(join(root, "packages")).map((name) => join("packages", name, "src"))];
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
    )
    .filter(
      (file) => file.endsWith(".test.ts") && readFileSync(join(root, file), "utf8").includes('from "fast-check"'),
    );
}
