import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";

/** The scripts of the workspace. */
export const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/**
 * The expected output of each command without options. Commands that need an option name it. A second word chooses one of
 * the command's programs.
 */
export const started: Readonly<Record<string, RegExp>> = {
  start: /http:\/\/(localhost|127\.0\.0\.1):\d+/,
  server: /"msg":"listening"|listening/i,
  faults: /\d+ (acknowledged|kills)|kill/i,
  "faults claims": /claims: seed \d+/,
  "faults deliveries": /deliveries: seed \d+/,
  "faults tables": /tables: seed \d+/,
  "faults converge": /converge: \d+ runs of \d+ steps/,
  "faults foreign": /foreign: seed \d+/,
  "faults fuzz": /fuzz: \d+ requests over 16 connections/,
  simulate: /simulate: \d+ of 20000 schedules, 0 violations/,
  api: /api: (wrote api\/agent\.api\.txt|api\/agent\.api\.txt is up to date)/,
  docs: /docs: \d+ pages in /,
  bench: /bench: \w+ …/,
  conformance: /Name the server to test/,
  holdfast: /Usage: holdfast/,
  "demo:proofread": /No demo is running|npm start/,
  "demo:sql": /Give one statement/,
  "demo:import": /One file, please/,
};

/** Run by the checks themselves, or by the tests of packages and examples. */
export const testedElsewhere: ReadonlySet<string> = new Set([
  ...["test", "verify", "soak", "pack", "release", "examples", "containers", "e2e"],
]);
