import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sweep } from "./pack.mjs";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const folder = temporaryFolder("sweep");

test("what an earlier build made of a source that is gone is removed, and nothing else", () => {
  for (const name of ["src", "dist/rules"]) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ["src/index.ts", "src/hook.tsx"]) writeFileSync(join(folder, name), "");
  const kept = ["index.js", "index.js.map", "index.d.ts", "index.d.ts.map", "hook.js", ".tsbuildinfo"];
  const stale = ["old.js", "old.d.ts.map", "rules/gone.js", "rules/gone.d.ts"];
  for (const name of [...kept, ...stale]) writeFileSync(join(folder, "dist", name), "");
  sweep(folder);
  expect(readdirSync(join(folder, "dist"), { recursive: true }).sort()).toEqual([...kept, "rules"].sort());
  sweep(join(folder, "src"));
});
