import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import * as page from "./index.ts";
import * as worker from "./worker.ts";

test("[PK12] the entry for workers has the names of the one for pages", () => {
  expect(Object.keys(worker).sort()).toEqual(Object.keys(page).sort());
});

test("[PK12] it has the types of the one for pages too", () => {
  const namesIn = (file: string) =>
    [...readFileSync(new URL(file, import.meta.url), "utf8").matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
      .flatMap(([, names = ""]) => names.split(","))
      .map((name) => name.replace("type ", "").trim())
      .filter((name) => name !== "")
      .sort();
  expect(namesIn("./index.ts")).toContain("SyncClient");
  expect(namesIn("./worker.ts")).toEqual(namesIn("./index.ts"));
});

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
