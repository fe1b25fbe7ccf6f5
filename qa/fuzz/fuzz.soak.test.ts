import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { violationText } from "./report.ts";
import { run } from "./run.ts";

// The same as `npm run fuzz`, but shorter. The seed is new in every run.

const SEED = Math.floor(Math.random() * 2 ** 31);
const REQUESTS = 5_000;
console.log(`fuzz: seed ${SEED}`);
const database = await freshDatabase();

test(`[F1] [F2] [F3] [H7] every request is answered as documented, new seed ${SEED}`, async () => {
  const findings = await run({
    databaseUrl: database.url,
    requests: REQUESTS,
    seed: SEED,
    connections: 16,
    print: () => {},
  });
  expect(findings.violations.map(violationText)).toEqual([]);
  expect(findings.exits).toBe(0);
  expect(findings.totals.of("500")).toBe(0);
  expect(findings.totals.of("2")).toBeGreaterThan(REQUESTS / 5);
  expect(findings.totals.of("4")).toBeGreaterThan(REQUESTS / 5);
  expect(findings.refusedQuietly).toBeGreaterThan(150);
  expect(findings.entries).toBeGreaterThan(50);
  expect(findings.streams.framesReceived).toBeGreaterThan(25);
});
