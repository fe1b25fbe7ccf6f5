import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { BUNDLES } from "../packages/server/src/testing/source-program.ts";
import { root } from "./root.mjs";

/** The programs that tests start most, relative to the project's folder. */
export const programs = [
  "packages/server/src/main.ts",
  "packages/server/src/cli.ts",
  "packages/server/src/holdfast.ts",
  "packages/server/src/testing/programs/server-process.ts",
  "packages/agent/src/holdfast-mcp.ts",
  "qa/claims/claimant-process.ts",
  "qa/deliveries/servers/server-process.ts",
  "qa/foreign/programs/neighbour.ts",
  "qa/foreign/programs/owners-service.ts",
];

/**
 * Global setup of the tests that start our programs as processes: bundles those programs once. Run from the sources, each
 * start would read 600 TypeScript files through tsx, which takes three times the CPU.
 */
export const setup = (): Promise<() => void> => bundleForRun(programs);

/** Bundles the programs for the processes that this one starts; returns how to remove the bundles. */
export async function bundleForRun(files: readonly string[]): Promise<() => void> {
  // Within the server's package: it picks the package with its Postgres when it starts.
  const cache = join(root, "packages/server/node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "bundles-"));
  await bundlePrograms(files, folder);
  // The workers start after the setup, and inherit it.
  process.env[BUNDLES] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Writes `a/b.mjs` for each `a/b.ts`, both relative to the project's folder. */
export async function bundlePrograms(files: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: [...files],
    absWorkingDir: root,
    outbase: root,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    sourcemap: "linked",
    format: "esm",
    platform: "node",
    target: "node20",
    jsx: "automatic",
    conditions: ["holdfast-source"],
    logLevel: "warning",
    plugins: [installedPackages, ownUrls],
  });
}

/** Packages stay where they are installed: some look for files beside their own. */
const installedPackages: Plugin = {
  name: "installed-packages",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === "resolved" || path.startsWith("node:") || path.startsWith("@holdfast/")) return undefined;
      if (from.kind === "entry-point") return undefined;
      const { path: file, errors } = await resolve(path, { ...from, pluginData: "resolved" });
      if (errors.length > 0 || !isAbsolute(file)) return undefined;
      return { path: pathToFileURL(file).href, external: true };
    });
  },
};

/** In pieces, because this file is bundled too, and would be changed there. */
const OWN_URL = ["import", "meta", "url"].join(".");

/** A source that looks for files beside itself finds them beside the source, not beside the bundle. */
const ownUrls: Plugin = {
  name: "own-urls",
  setup({ onLoad }) {
    onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text.replaceAll(OWN_URL, JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: path.endsWith(".ts") ? "ts" : "js" };
    });
  },
};
