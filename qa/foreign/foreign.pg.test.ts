import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { runForeign } from "./run.ts";

// The same as `npm run faults -- foreign`, but short, with few and small values, and always the same seed. The soak suite takes a new one.
const PINNED = 20_261_129;
const database = await freshDatabase();

test(`[F4] [F6] [F5] what the server reads from others ends no process and is refused in sentences, seed ${PINNED}`, {
  timeout: 120_000,
}, async () => {
  const findings = await runForeign({
    ...{ databaseUrl: database.url, seed: PINNED, rounds: 1, phaseMs: 1_000, files: 3, print: () => {} },
    scale: { mebibytes: [1, 17] },
  });
  expect(findings.violations).toEqual([]);
  expect(findings.exits).toBe(0);
  expect(findings.statements).toBeGreaterThan(0);
  expect(findings.entries).toBeGreaterThan(0);
  expect(Object.keys(findings.oddAnswers).length).toBeGreaterThan(0);
  expect(findings.files.tried).toBe(3);
  expect(findings.times.odd?.length).toBeGreaterThan(0);
});
