import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import { defaultClientConditions, defaultServerConditions } from "vite";
import { configDefaults, defineConfig } from "vitest/config";
import { browserArguments, findChromium } from "./scripts/browser.mjs";
import { svelteFiles } from "./scripts/testing/svelte-files.ts";

// Packages are tested from their sources: the condition leads every `@holdfast/…` import to `src`.
const condition = "holdfast-source";

const postgresTests = "**/*.pg.test.ts";
/** What needs long, kills, stalls, real clocks or new seeds: `npm run soak`. */
const soakTests = "**/*.soak.test.ts";
const browserTests = "**/*.web.test.{ts,tsx}";
const packageTests = "e2e/packages/**/*.test.ts";
const exampleTests = "e2e/examples/**/*.test.ts";
/** Of apps that people start from: e2e/packages/templates.test.ts runs them as an app does. */
const templateTests = "packages/create-holdfast/templates/**";
/** They build images, or what goes into one. */
const containerTests = "e2e/deploy/**/*.container.test.ts";
const reactTests = "packages/react/**/*.test.{ts,tsx}";
const domTests = [reactTests, "apps/**/*.test.tsx"];

// React 18 lives in a package of its own, with a testing library that belongs to it: so nothing meets the other React.
const react18 = fileURLToPath(new URL("e2e/react-18/node_modules", import.meta.url));
const ofReact18 = [{ find: /^(react|react-dom|@testing-library\/react)(?=\/|$)/, replacement: `${react18}/$1` }];

const restoreGlobals = fileURLToPath(new URL("scripts/testing/restore-globals.ts", import.meta.url));
const pinSeeds = fileURLToPath(new URL("scripts/testing/pin-seeds.ts", import.meta.url));

// Left undefined when there is no browser yet, so that the other projects still run.
const executablePath = findChromium();

export default defineConfig({
  resolve: { conditions: [condition, ...defaultClientConditions] },
  // As Node itself chooses: files that only bundlers can read are not for it.
  ssr: { resolve: { conditions: [condition, ...defaultServerConditions.filter((one) => one !== "module")] } },
  test: {
    exclude: [...configDefaults.exclude, "**/dist/**"],
    // Where `isolate` is false, the files of a worker share the modules: importing the server again for each file took
    // three quarters of the CPU of the unit tests. A test that changes the process (environment, globals) restores it.
    // Spies are restored, so that no test depends on one that another test left behind.
    restoreMocks: true,
    setupFiles: [restoreGlobals],
    // Most of the time a test waits for a process, a database or a browser: as many workers as cores would leave them idle.
    maxWorkers: availableParallelism() + 1,
    // A limit only ends what hangs: on a busy machine a test that works for a second takes twenty.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // `npm test -- --coverage`. Processes that a test starts are not counted.
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.{ts,tsx}"],
      exclude: ["**/*.test.{ts,tsx}", "**/testing/**"],
      reporter: ["json-summary", "html"],
      reportsDirectory: "test-results/coverage",
    },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["**/*.test.ts"],
          exclude: [
            ...configDefaults.exclude,
            "**/dist/**",
            postgresTests,
            soakTests,
            browserTests,
            packageTests,
            exampleTests,
            templateTests,
            containerTests,
            ...domTests,
          ],
          environment: "node",
          isolate: false,
          setupFiles: [pinSeeds],
        },
      },
      {
        extends: true,
        test: {
          name: "dom",
          env: { REACT_MAJOR: "19" },
          include: domTests,
          exclude: [...configDefaults.exclude, "**/dist/**", postgresTests, browserTests],
          environment: "happy-dom",
        },
      },
      {
        extends: true,
        resolve: { alias: ofReact18 },
        test: {
          name: "dom-18",
          env: { REACT_MAJOR: "18" },
          include: [reactTests],
          exclude: [...configDefaults.exclude, "**/dist/**"],
          environment: "happy-dom",
        },
      },
      {
        extends: true,
        test: {
          name: "pg",
          include: [postgresTests],
          isolate: false,
          setupFiles: [pinSeeds],
          // One Postgres for the whole run; each file takes a database of its own from it.
          globalSetup: ["packages/server/src/testing/global-setup.ts", "scripts/bundle-programs.ts"],
          pool: "forks",
        },
      },
      {
        extends: true,
        test: {
          name: "soak",
          include: [soakTests],
          exclude: [...configDefaults.exclude, "**/dist/**", packageTests],
          globalSetup: ["packages/server/src/testing/global-setup.ts", "scripts/bundle-programs.ts"],
          pool: "forks",
          testTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: "packages",
          include: [packageTests],
          exclude: [...configDefaults.exclude, soakTests],
          // Packs every package and installs all of them in an empty folder, once for the whole run.
          globalSetup: ["e2e/packages/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "packages-soak",
          include: ["e2e/packages/**/*.soak.test.ts"],
          globalSetup: ["e2e/packages/global-setup.ts"],
          testTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          // Installs and builds the server as deploy/Dockerfile does, which takes minutes: `npm run containers`.
          name: "containers",
          include: [containerTests],
          globalSetup: ["packages/server/src/testing/global-setup.ts"],
          pool: "forks",
        },
      },
      {
        extends: true,
        test: {
          // Installs what nothing else here needs, 370 MB of it, and takes minutes: `npm run examples`.
          name: "examples",
          include: [exampleTests],
        },
      },
      {
        extends: true,
        plugins: [svelteFiles()],
        // Its compiled components import what the scan for dependencies does not see: a second copy would be made.
        optimizeDeps: { exclude: ["svelte"] },
        // Vue warns if a bundler does not set them.
        define: Object.fromEntries(
          ["OPTIONS_API", "PROD_DEVTOOLS", "PROD_HYDRATION_MISMATCH_DETAILS"].map((name) => [
            `__VUE_${name}__`,
            "false",
          ]),
        ),
        test: {
          name: "web",
          include: [browserTests],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { args: browserArguments, ...(executablePath ? { executablePath } : {}) },
            }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});
