import { readFileSync, writeFileSync } from "node:fs";
import { writtenDocs } from "./docs/written-docs.ts";

// Writes the pages of docs/ that are made from the project's own tables.
for (const [file, text] of Object.entries(writtenDocs())) {
  if (readFileSync(file, "utf8") === text) continue;
  writeFileSync(file, text);
  console.error(`docs: wrote ${file}`);
}
