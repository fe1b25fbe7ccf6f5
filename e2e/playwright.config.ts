import { defineConfig } from "@playwright/test";
import { browserArguments, findChromium } from "../scripts/browser.mjs";

const executablePath = findChromium();

export default defineConfig({
  testDir: ".",
  outputDir: "results",
  globalSetup: "./global-setup.ts",
  // Each worker runs a server and serves the page.
  workers: 2,
  // Each test has an organization of its own, so the tests of a file may run side by side.
  fullyParallel: true,
  // Limits only end what hangs: a test that works for 10 s takes 40 s while other work fills the machine.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  projects: [
    { name: "gate", testMatch: "*.spec.ts", testIgnore: "*.soak.spec.ts" },
    { name: "soak", testMatch: "*.soak.spec.ts", timeout: 600_000 },
  ],
  forbidOnly: Boolean(process.env.CI),
  reporter: "list",
  use: {
    browserName: "chromium",
    launchOptions: { args: browserArguments, ...(executablePath && { executablePath }) },
    viewport: { width: 1280, height: 900 },
    // A trace takes half as much time again as the test itself. By hand: `--trace on`.
    trace: "on-first-retry",
  },
});
