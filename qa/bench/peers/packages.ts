import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

export interface PeerPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export interface InstalledPeers {
  readonly folder: string;
  described(name: string): Promise<PeerPackage>;
  remove(): Promise<void>;
}

/** Installs packages into a folder of their own, outside the workspace. Their install scripts do not run. */
export async function installPeers(specs: readonly string[], flags: readonly string[] = []): Promise<InstalledPeers> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-peers-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const npm = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", ...flags, ...specs];
  try {
    await promisify(execFile)("npm", npm, { cwd: folder, maxBuffer: 1 << 26 });
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, described: async (name) => (await manifest(folder, name)) as PeerPackage, remove };
}

/** The main module of an installed package. */
export async function importPeer(folder: string, name: string): Promise<unknown> {
  const { exports } = (await manifest(folder, name)) as { exports: { ".": Entry } };
  const entry = exports["."].default ?? exports["."].import?.default;
  if (entry === undefined) throw new Error(`${name} has no main module.`);
  return importPeerFile(folder, name, entry);
}

/** One file of an installed package, also one that it does not export. */
export const importPeerFile = (folder: string, name: string, file: string): Promise<unknown> =>
  import(pathToFileURL(join(folder, "node_modules", name, file)).href);

interface Entry {
  readonly default?: string;
  readonly import?: { readonly default: string };
}

const manifest = async (folder: string, name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));
