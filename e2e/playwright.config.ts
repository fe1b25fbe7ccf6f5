import { defineConfig } from "@playwright/test";
import { browserArguments, findChromium } from "../scripts/browser.mjs";

const executablePath = findChromium();

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "results",
  // Each worker runs a server, a Postgres and a page of its own.
  workers: 2,
  fullyParallel: false,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: "list",
  use: {
    browserName: "chromium",
    launchOptions: { args: browserArguments, ...(executablePath && { executablePath }) },
    viewport: { width: 1280, height: 900 },
    trace: "on-first-retry",
  },
});
