import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const startProgram = join(root, "apps/demo/start.ts");
export const serverProgram = join(root, "packages/server/src/main.ts");
export const commandProgram = join(root, "packages/server/src/cli.ts");
export const endWithParent = join(root, "scripts/end-with-parent.mjs");
export const referenceSchema = join(root, "packages/server/reference-schema.json");
export const importProgram = join(root, "apps/demo/import.ts");
export const proofreadProgram = join(root, "apps/demo/proofread.ts");
export const sqlProgram = join(root, "apps/demo/sql.ts");
export const mirrorProgram = join(root, "apps/demo/mirror/main.ts");
export const sampleFile = join(root, "apps/demo/sample/keeping-a-shared-deck-honest.md");
export const demoFolder = join(root, "apps/demo");

/** Where the server keeps its data: keys, its own Postgres, and what the demo adds. */
export const dataDirectory = (): string => process.env.HOLDFAST_DATA_DIR ?? join(root, ".holdfast");

/**
 * How a TypeScript program of ours is run: from its sources, or from the bundle that a run of the tests has made of it
 * (scripts/bundle-programs.ts).
 */
export function nodeWords(program: string, ...words: string[]): string[] {
  const bundles = process.env.HOLDFAST_TEST_BUNDLES;
  const bundle = bundles && join(bundles, relative(root, program).replace(/\.ts$/, ".mjs"));
  if (bundle && existsSync(bundle)) return ["--enable-source-maps", bundle, ...words];
  return ["--conditions=holdfast-source", "--import", "tsx", program, ...words];
}
