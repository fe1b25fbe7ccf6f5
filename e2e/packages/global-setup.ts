import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { pack } from "../../scripts/pack.mjs";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "./run-command.ts";

/** Packages that users of React and TypeScript have installed, in the tested versions. */
function peersOfPacks(): string[] {
  const names = ["react", "react-dom", "vue", "svelte", "solid-js", "@tanstack/db"];
  const types = ["@types/node", "@types/react", "@types/react-dom"];
  const folders = ["", ...["react", "vue", "svelte", "solid", "tanstack-db"].map((name) => `packages/${name}`)];
  const versions = Object.assign({}, ...folders.map(devDependencies)) as Record<string, string>;
  return [...names, ...types].map((name) => `${name}@${versions[name]}`);
}

const devDependencies = (folder: string): object =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")).devDependencies;

/** Packs every package, and installs all of them into an empty folder, once for all tests. */
export async function setup(project: TestProject): Promise<() => void> {
  const packs = await pack();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-newcomer-"));
  const close = () => rmSync(folder, { recursive: true, force: true });
  try {
    const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    const { code, output } = await ending(runIn(folder, "npm", [...args, ...packs, ...peersOfPacks()]));
    if (code !== 0) throw new Error(`npm install failed (exit ${code}):\n${output}`);
  } catch (error) {
    close();
    throw error;
  }
  project.provide("packs", packs);
  project.provide("newcomer", folder);
  return close;
}

declare module "vitest" {
  export interface ProvidedContext {
    /** The tarballs, as they would be published. */
    packs: string[];
    /** A folder that was empty before they were installed in it. */
    newcomer: string;
  }
}
