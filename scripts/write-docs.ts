import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { writtenDocs } from "./docs/written-docs.ts";

// Writes the files that are made from the project's own tables.
for (const [file, text] of Object.entries(writtenDocs())) {
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  writeFileSync(file, text);
  console.error(`docs: wrote ${file}`);
}
