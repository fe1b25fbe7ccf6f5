import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ProgramHelp, programHelp } from "./program-help.ts";

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

const HOLDFAST = "packages/server/src/holdfast.ts";
let help: ProgramHelp;
beforeAll(async () => {
  help = await programHelp([HOLDFAST]);
});
afterAll(() => help.remove());

test.each([...optionsByCommand])("[DP5] holdfast %s is a command, with the options shown", async (command, options) => {
  const { code, output } = await help.read(HOLDFAST, ...command.split(" "));
  expect(code).toBe(0);
  expect(output).toMatch(new RegExp(`^Usage: holdfast ${command}\\b`));
  for (const option of options) expect(output).toContain(`  ${option}`);
});
