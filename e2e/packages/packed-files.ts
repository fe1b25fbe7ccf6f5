import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, relative } from "node:path";
import { readSource } from "../../scripts/layers/read-source.ts";

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly sideEffects?: boolean | readonly string[];
  readonly engines?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package as npm unpacked it. */
export interface Packed {
  readonly folder: string;
  readonly manifest: Manifest;
  /** All files, by path in the package. */
  readonly files: readonly string[];
}

export function readPacked(folder: string): Packed {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith("node_modules"));
  return { folder, manifest, files };
}

/** The packages that its built files import, each with the first importing file; without Node's own and itself. */
export function importsOf({ folder, manifest, files }: Packed): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of files.filter((each) => /^dist\/.*(\.js|\.d\.ts)$/.test(each)))
    for (const { to } of readSource(join(folder, file), readFileSync(join(folder, file), "utf8")).imports) {
      const name = /^(@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? "";
      const isOther = !/^(\/|node:)/.test(to) && !builtinModules.includes(name) && name !== manifest.name;
      if (isOther && !found.has(name)) found.set(name, file);
    }
  return found;
}
