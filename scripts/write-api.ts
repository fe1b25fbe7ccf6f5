import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { apiReport } from "./api/api-report.ts";
import { changedLines } from "./api/changed-lines.ts";
import { root } from "./root.mjs";

// Writes the public names and types of the packages into `api/`, or compares with what is there.
const { values } = parseArgs({ options: { check: { type: "boolean" }, help: { type: "boolean" } } });
if (values.help) {
  console.error("Usage: npm run api [-- --check]\n\n  --check   writes nothing, and fails if a public API has changed");
} else {
  mkdirSync(join(root, "api"), { recursive: true });
  for (const name of ["sdk", "react", "vue", "svelte", "solid", "server", "agent", "tanstack-db", "expo"]) {
    const file = `api/${name}.api.txt`;
    const before = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
    const now = apiReport(join(root, "packages", name));
    if (now === before) console.error(`api: ${file} is up to date`);
    else if (values.check) complain(name, before, now);
    else {
      writeFileSync(join(root, file), now);
      console.error(`api: wrote ${file}`);
    }
  }
}

function complain(name: string, before: string, now: string): void {
  for (const line of changedLines(before, now)) console.error(`api: ${line}`);
  console.error(
    `api: The public API of @holdfast/${name} has changed. If that is intended, run "npm run api" and commit the result.`,
  );
  process.exitCode = 1;
}
