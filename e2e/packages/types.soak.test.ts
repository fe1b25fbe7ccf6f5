import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import type {} from "./global-setup.ts";
import { ending, runIn } from "./run-command.ts";

const folder = join(inject("newcomer"), "typed");
mkdirSync(folder);
// The package defines the kind of module.
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
for (const name of ["app.tsx", "agent.ts"])
  copyFileSync(fileURLToPath(new URL(`consumer/${name}`, import.meta.url)), join(folder, name));

const common = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: "ES2022",
  lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.Iterable"],
  jsx: "react-jsx",
  types: ["node"],
  resolveJsonModule: true,
  // The compiler's own declarations are its own business.
  skipDefaultLibCheck: true,
};
const nodenext = { module: "NodeNext", moduleResolution: "NodeNext" };
const bundler = { module: "ESNext", moduleResolution: "Bundler" };

// `skipLibCheck: false` checks our own declarations too, not only what is done with them.
test.each([
  { version: "7", place: ".", resolution: "nodenext", options: { ...nodenext, skipLibCheck: false } },
  { version: "7", place: ".", resolution: "bundler", options: { ...bundler, skipLibCheck: false } },
  { version: "5.9", place: "packages/server", resolution: "nodenext", options: { ...nodenext, skipLibCheck: true } },
])(
  "[PK5] the types of the packages hold for TypeScript $version with $resolution resolution",
  async ({ version, place, resolution, options }) => {
    const config = `tsconfig.${version}-${resolution}.json`;
    writeFileSync(join(folder, config), JSON.stringify({ compilerOptions: { ...common, ...options }, include: ["."] }));
    const tsc = join(root, place, "node_modules", ".bin", "tsc");
    const { code, output } = await ending(runIn(folder, tsc, ["-p", config]));
    expect(code, output).toBe(0);
  },
);
