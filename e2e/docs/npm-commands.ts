import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";

/** The scripts of the workspace. */
export const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** The expected output of each command without options. Commands that need an option name it. */
export const started: Readonly<Record<string, RegExp>> = {
  start: /http:\/\/(localhost|127\.0\.0\.1):\d+/,
  server: /"msg":"listening"|listening/i,
  faults: /\d+ (acknowledged|kills)|kill/i,
  claims: /claims: seed \d+/,
  deliveries: /deliveries: seed \d+/,
  tables: /tables: seed \d+/,
  simulate: /simulate: \d+ of 20000 schedules, 0 violations/,
  converge: /converge: \d+ runs of \d+ steps/,
  foreign: /foreign: seed \d+/,
  fuzz: /fuzz: \d+ requests over 16 connections/,
  api: /api: (wrote api\/agent\.api\.txt|api\/agent\.api\.txt is up to date)/,
  bench: /bench: \w+ …/,
  conformance: /Name the server to test/,
  holdfast: /Usage: holdfast/,
  "demo:proofread": /No demo is running|npm start/,
  "demo:sql": /Give one statement/,
  "demo:import": /One file, please/,
};

/** Run by the checks themselves, or by the tests of packages and examples. */
export const testedElsewhere: ReadonlySet<string> = new Set([
  ...["test", "verify", "soak", "pack", "examples", "containers", "e2e"],
]);
