import { startEmbeddedPostgres } from "@holdfast/server";
import { expect, test } from "vitest";
import { isNeighbourly, report } from "./report.ts";
import { runForeign } from "./run.ts";

const SEED = Math.floor(Math.random() * 2 ** 31);
console.log(`foreign: seed ${SEED}`);

test(`[F4] [F5] what the server reads from others, however huge, ends no process and delays no other tenant much, new seed ${SEED}`, {
  timeout: 900_000,
}, async () => {
  const postgres = await startEmbeddedPostgres({ throwaway: true });
  try {
    const findings = await runForeign({
      ...{ databaseUrl: postgres.url, seed: SEED, rounds: 3, phaseMs: 15_000, files: 40, print: console.log },
      scale: { mebibytes: [1, 1, 15, 17, 60, 200], seldomMebibytes: 520 },
    });
    console.log(report(findings));
    expect(findings.violations).toEqual([]);
    expect(findings.exits).toBe(0);
    expect(isNeighbourly(findings)).toBe(true);
  } finally {
    await postgres.stop();
  }
});
