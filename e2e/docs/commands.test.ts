import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";

const docs = new URL("../../docs/", import.meta.url);
const text = readdirSync(docs)
  .filter((name) => name.endsWith(".md"))
  .map((name) => readFileSync(new URL(name, docs), "utf8"))
  .join("\n");

/** `npx holdfast webhooks create https://… --events slide` → `webhooks create`, with `--events`. */
const optionsByCommand = new Map<string, Set<string>>();
for (const [, line = ""] of text.matchAll(/npx holdfast ([a-z][^\n`#)]+)/g)) {
  const words = line.trim().split(/ +/);
  const grouped = /^(schema|keys|orgs|log|webhooks|tables|databases|datasources|tenants)$/.test(words[0] ?? "");
  const command = words.slice(0, grouped ? 2 : 1).join(" ");
  const known = optionsByCommand.get(command) ?? new Set();
  optionsByCommand.set(command, new Set([...known, ...words.filter((word) => word.startsWith("--"))]));
}

test("[DP5] there are commands in the pages", () => {
  expect(optionsByCommand.size).toBeGreaterThan(5);
});

test.concurrent.each([...optionsByCommand])(
  "[DP5] holdfast %s is a command, with the options shown",
  async (command, options) => {
    const { flags, file } = sourceProgram(join(root, "packages/server/src/holdfast.ts"));
    const words = [...flags, file, ...command.split(" "), "--help"];
    const { code, stdout } = await ending(runIn(root, process.execPath, words));
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: holdfast ${command}\\b`));
    for (const option of options) expect(stdout).toContain(`  ${option}`);
  },
);
