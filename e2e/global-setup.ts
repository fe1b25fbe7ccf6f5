import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { demoFolder, nodeWords } from "../apps/demo/dev/project.ts";
import { bundleForRun } from "../scripts/bundle-programs.ts";
import { root } from "../scripts/root.mjs";

const postgresProgram = "packages/server/src/testing/programs/postgres-process.ts";

/** The programs that the specs start. `start.ts` is none of them: Vite loads its configuration from the sources, through tsx. */
const programs = [
  postgresProgram,
  "packages/server/src/main.ts",
  "apps/demo/import.ts",
  "apps/demo/proofread.ts",
  "apps/demo/mirror/main.ts",
];

/**
 * What all workers share: the bundled programs, the built page, and one Postgres with a template database. Workers start
 * after it and find it through the environment.
 */
// biome-ignore lint/style/noDefaultExport: Playwright calls the default export
export default async function setup(): Promise<() => Promise<void>> {
  const page = mkdtempSync(join(tmpdir(), "holdfast-page-"));
  const built = buildPage(page);
  built.catch(() => {});
  const removeBundles = await bundleForRun(programs);
  const postgres = await startPostgres();
  await built;
  process.env.HOLDFAST_TEST_PAGE = page;
  process.env.HOLDFAST_TEST_TEMPLATE = postgres.template;
  return async () => {
    await postgres.stop();
    removeBundles();
    rmSync(page, { recursive: true, force: true });
  };
}

/** In a process of its own: a build sets NODE_ENV for everything that its process starts. */
async function buildPage(folder: string): Promise<void> {
  const vite = join(demoFolder, "node_modules/vite/bin/vite.js");
  const words = ["build", "--configLoader", "native", "--outDir", folder, "--emptyOutDir", "--logLevel", "warn"];
  const fromSources = ["--conditions=holdfast-source", "--import", "tsx"];
  const child = spawn(process.execPath, [...fromSources, vite, ...words], {
    cwd: demoFolder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error("The demo's page could not be built.");
}

async function startPostgres(): Promise<{ template: string; stop(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, nodeWords(join(root, postgresProgram)), {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const printed = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once("line", resolve);
  });
  const template = await Promise.race([
    printed,
    ended.then(() => Promise.reject(new Error("The Postgres of the tests ended before it was up."))),
  ]);
  return {
    template,
    stop: async () => {
      child.stdin?.end();
      await ended;
    },
  };
}
