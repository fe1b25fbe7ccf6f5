import { ensureChromium } from "./browser.mjs";
import { runTool } from "./command.mjs";
import { soak } from "./soak.mjs";
import { verify, verifySteps } from "./verify.mjs";

/**
 * What each `npm` script runs.
 * @type {Record<string, { says: string, program?: string, env?: Record<string, string>, run?: (words: string[]) => Promise<number>, installs?: boolean, builds?: boolean }>}
 */
export const jobs = {
  start: { says: "starts server, demo and one agent; prints the URL to open", program: "apps/demo/start.ts" },
  server: {
    says: "starts the server alone, with an embedded Postgres or DATABASE_URL",
    program: "packages/server/src/main.ts",
  },
  test: {
    says: `runs all checks: ${Object.keys(verifySteps).join(", ")}; or only the named ones; --coverage reports it per package`,
    run: verify,
  },
  verify: { says: "the same, without installing", run: verify, installs: false },
  soak: {
    says: "runs the tests that take long, kill, stall or measure time; -- webhooks runs those of one subject",
    run: (words) => soak(words, say),
  },
  pack: { says: "builds and packs the npm packages into dist/packages", program: "scripts/pack.mjs" },
  release: {
    says: "-- --dry makes all that a release consists of in dist/release, and publishes nothing",
    program: "scripts/release.ts",
  },
  api: {
    says: "builds the packages and writes their public names and types into api/ for review",
    program: "scripts/write-api.ts",
    builds: true,
  },
  examples: { says: "builds and tests the Next.js template with the packed packages", run: examples },
  containers: { says: "builds and starts deploy/Dockerfile and deploy/compose.yaml", run: containers },
  e2e: { says: "runs the end-to-end tests; further arguments go to Playwright", run: endToEnd },
  holdfast: {
    says: "manages a server: schema, keys, organizations, log, webhooks, dump and restore",
    program: "packages/server/src/cli.ts",
  },
  docs: {
    says: "builds the pages of docs/ into a site; --serve serves it, --edit shows each change",
    program: "site/main.ts",
  },
  bench: { says: "builds the packages and measures them on this machine", program: "qa/bench/main.ts", builds: true },
  faults: {
    says: "kills processes, cuts connections and sends what is wrong, and checks the results; -- claims is one of its subjects",
    program: "qa/faults/main.ts",
  },
  simulate: {
    says: "simulates devices, tabs and a server with all kinds of failures, from a seed",
    program: "qa/simulation/main.ts",
    // As users run the client: rows are not frozen there, which they are in the unit tests.
    env: { NODE_ENV: "production" },
  },
  conformance: {
    says: "tests a running server against the whole interface",
    program: "packages/conformance/src/main.ts",
  },
  "demo:proofread": {
    says: "starts an agent that proofreads a deck of a running demo",
    program: "apps/demo/proofread.ts",
  },
  "demo:sql": { says: "runs SQL in the database of a running demo", program: "apps/demo/sql.ts" },
  "demo:import": { says: "imports a deck into a running demo", program: "apps/demo/import.ts" },
};

async function containers() {
  return runTool("vitest", ["run", "--project=containers"]);
}

async function examples() {
  process.env.CHROMIUM_PATH = ensureChromium(say);
  return runTool("vitest", ["run", "--project=examples"]);
}

/** @param {string[]} words */
async function endToEnd(words) {
  process.env.CHROMIUM_PATH = ensureChromium(say);
  return runTool("playwright", ["test", "-c", "e2e/playwright.config.ts", ...words], "e2e");
}

// Everything of ours goes to stderr: the stdout of a job belongs to its program.
/** @param {string} line */
export function say(line) {
  process.stderr.write(`holdfast: ${line}\n`);
}
