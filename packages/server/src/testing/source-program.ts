import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** The environment variable that names the folder with the bundled programs of this run. */
export const BUNDLES = "HOLDFAST_TEST_BUNDLES";

export interface SourceProgram {
  /** For Node, before the file. */
  readonly flags: readonly string[];
  readonly file: string;
}

/**
 * How Node runs a TypeScript program of this workspace: from its bundle in a run of the tests that made one
 * (scripts/bundle-programs.ts), otherwise from its sources.
 */
export function sourceProgram(file: string): SourceProgram {
  const bundles = process.env[BUNDLES];
  if (bundles) {
    const bundle = join(bundles, relative(ROOT, file).replace(/\.ts$/, ".mjs"));
    if (existsSync(bundle)) return { flags: ["--enable-source-maps"], file: bundle };
  }
  return fromSources(file);
}

/** As a program needs it that imports other sources itself. */
export const fromSources = (file: string): SourceProgram => ({
  flags: ["--conditions=holdfast-source", "--import", "tsx"],
  file,
});
