import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, inject, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import type {} from "./global-setup.ts";
import { ending, runIn } from "./run-command.ts";

const folder = join(inject("newcomer"), "typed");
mkdirSync(folder);
// The package defines the kind of module.
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
for (const name of ["app.tsx", "agent.ts", "options.ts"])
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

/** The compilers that this workspace does not use itself, by the name under which they are installed. */
const others = { "typescript-5.6": "npm:typescript@5.6.3", "typescript-6": "npm:typescript@6.0.3" };
const compilers = join(inject("newcomer"), "compilers");
beforeAll(async () => {
  mkdirSync(compilers);
  writeFileSync(join(compilers, "package.json"), JSON.stringify({ private: true, dependencies: others }));
  const { code, output } = await ending(runIn(compilers, "npm", ["install", "--no-audit", "--no-fund"]));
  expect(code, output).toBe(0);
});

const compiler = (version: string) =>
  version === "7"
    ? join(root, "node_modules/typescript/bin/tsc")
    : version === "5.9"
      ? join(root, "packages/server/node_modules/typescript/bin/tsc")
      : join(compilers, `node_modules/typescript-${version}/bin/tsc`);

// `skipLibCheck: false` checks our own declarations too, not only what is done with them.
test.each(
  ["5.6", "5.9", "6", "7"].flatMap((version) => [
    { version, resolution: "nodenext", options: { ...nodenext, skipLibCheck: false } },
    { version, resolution: "bundler", options: { ...bundler, skipLibCheck: false } },
  ]),
)(
  "[PK5] [PK13] the types of the packages hold for TypeScript $version with $resolution resolution",
  async ({ version, resolution, options }) => {
    const config = `tsconfig.${version}-${resolution}.json`;
    writeFileSync(join(folder, config), JSON.stringify({ compilerOptions: { ...common, ...options }, include: ["."] }));
    const { code, output } = await ending(runIn(folder, process.execPath, [compiler(version), "-p", config]));
    expect(code, output).toBe(0);
  },
);
