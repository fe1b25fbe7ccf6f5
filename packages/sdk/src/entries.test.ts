import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import * as page from "./index.ts";
import * as node from "./node.ts";
import * as worker from "./worker.ts";

/** What an entry has beside the names of the one for pages. */
const entries = [
  ["./worker.ts", worker, []],
  ["./node.ts", node, ["FileStorage", "fileStorage"]],
] as const;

test.each(entries)("[PK12] the entry %s has the names of the one for pages", (_, entry, more) => {
  const own: readonly string[] = more;
  expect(
    Object.keys(entry)
      .filter((name) => !own.includes(name))
      .sort(),
  ).toEqual(Object.keys(page).sort());
});

test.each(entries)("[PK12] the entry %s has the types of the one for pages too", (file, _, more) => {
  expect(namesIn("./index.ts")).toContain("SyncClient");
  expect(namesIn(file)).toEqual([...namesIn("./index.ts"), ...more].sort());
});

const namesIn = (file: string) =>
  [...readFileSync(new URL(file, import.meta.url), "utf8").matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.replace("type ", "").trim())
    .filter((name) => name !== "")
    .sort();

test("[PK12] nothing that the entry for workers imports calls import()", async () => {
  const entryPoints = [fileURLToPath(new URL("./worker.ts", import.meta.url))];
  const { metafile } = await build({
    ...{ entryPoints, bundle: true, write: false, metafile: true, outdir: "/bundle" },
    ...{ format: "esm", splitting: true, platform: "browser", conditions: ["holdfast-source"] },
  });
  expect(Object.keys(metafile.inputs).some((path) => path.includes("dexie"))).toBe(true);
  const dynamic = Object.entries(metafile.inputs).filter(([, { imports }]) =>
    imports.some(({ kind }) => kind === "dynamic-import"),
  );
  expect(dynamic.map(([path]) => path)).toEqual([]);
});
