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
  /** Bundles these programs, which then start in a fifth of the time that tsx takes. */
  bundle(names: readonly string[]): Promise<void>;
  run(name: string, env?: Readonly<Record<string, string>>): Promise<Ending>;
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
  const bundles = join(folder, "bundles");
  const inRoot = (name: string) => relative(root, join(folder, name));
  return {
    write,
    compile: () => ending(runIn(folder, join(root, "node_modules", ".bin", "tsc"), ["-p", "."])),
    bundle: (names) => bundlePrograms(names.map(inRoot), bundles),
    run: (name, env = {}) =>
      ending(runIn(folder, process.execPath, [join(bundles, inRoot(name).replace(/\.tsx?$/, ".mjs"))], env)),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
