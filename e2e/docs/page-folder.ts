import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundlePrograms } from "../../scripts/bundle-programs.ts";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";

type Ending = Awaited<ReturnType<typeof ending>>;

export interface PageFolder {
  write(name: string, text: string): void;
  compile(): Promise<Ending>;
  /** As the pages say it, with tsx. */
  run(name: string, env?: Readonly<Record<string, string>>): Promise<Ending>;
  /** Bundles these programs once; each then starts in a fifth of the time that tsx takes. */
  bundle(names: readonly string[]): Promise<void>;
  runBundle(name: string): Promise<Ending>;
  remove(): void;
}

/** A folder in which the programs of a page are compiled and run, against the workspace's packages. */
export function openPageFolder(): PageFolder {
  // Within this package, whose modules the programs import.
  const cache = fileURLToPath(new URL("../node_modules/.cache/", import.meta.url));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "page-"));
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  };
  write("package.json", JSON.stringify({ type: "module" }));
  write(
    "tsconfig.json",
    JSON.stringify({
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: {
        composite: false,
        noEmit: true,
        types: ["node"],
        jsx: "react-jsx",
        // The workspace's packages are read from their sources, a part of which knows browsers.
        lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.Iterable"],
      },
      include: ["."],
    }),
  );
  // The packages run from their sources, so their JSX needs the same setting as the page's.
  const running = "tsconfig.run.json";
  const jsx = { compilerOptions: { jsx: "react-jsx" }, include: [".", join(root, "packages")] };
  write(running, JSON.stringify(jsx));
  const flags = ["--conditions=holdfast-source", "--import", "tsx"];
  return {
    write,
    compile: () => ending(runIn(folder, join(root, "node_modules", ".bin", "tsc"), ["-p", "."])),
    run: (name, env = {}) =>
      ending(runIn(folder, process.execPath, [...flags, name], { TSX_TSCONFIG_PATH: running, ...env })),
    bundle: (names) =>
      bundlePrograms(
        names.map((name) => relative(root, join(folder, name))),
        join(folder, "bundles"),
      ),
    runBundle: (name) =>
      ending(runIn(folder, process.execPath, [bundleOf(join(folder, "bundles"), relative(root, join(folder, name)))])),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

const bundleOf = (bundles: string, source: string) => join(bundles, source.replace(/\.tsx?$/, ".mjs"));
