import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writtenDocs } from "./docs/written-docs.ts";
import { root } from "./root.mjs";

// Writes the files that are made from the project's own tables and rules.
for (const [name, text] of Object.entries(writtenDocs())) {
  const file = join(root, name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  writeFileSync(file, text);
  console.error(`docs: wrote ${name}`);
}
