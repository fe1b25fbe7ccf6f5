import { expect, test } from "vitest";
import { report as written } from "../support/report.ts";
import { report } from "./report.ts";
import { runForeign } from "./run.ts";
import { LARGE } from "./values/column-values.ts";

const SEED = Math.floor(Math.random() * 2 ** 31);
console.log(`foreign: seed ${SEED}`);

test(`[F4] [F5] what the server reads from others, however huge, ends no process and delays no other tenant much, new seed ${SEED}`, {
  timeout: 900_000,
}, async () => {
  const findings = await runForeign({
    ...{ seed: SEED, rounds: 3, phaseMs: 15_000, files: 40, print: console.log, scale: LARGE },
  });
  const found = report(findings);
  console.log(written(found));
  expect(found.violations).toEqual([]);
  expect(findings.exits).toBe(0);
});
