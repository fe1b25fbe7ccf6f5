import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { shifted } from "../support/shifted-clock.ts";
import type { Findings } from "./run.ts";
import { runClaims } from "./run.ts";

const database = await freshDatabase();
// A run ends when so many requests were answered, however long they take.
const SHORT = { claimants: 12, records: 3, processes: 3, operations: 600, withinMs: 300_000, print: () => {} };
const HOUR_MS = 3_600_000;

// Both mostly wait for leases: they do it at the same time.

/** The run found no violations, and the checks had something to check. */
function expectSound({ verdict, audited }: Findings): void {
  expect(verdict.violations).toEqual([]);
  expect(audited.violations).toEqual([]);
  const { granted, waiters, underClaim, byHolders, lapsed } = verdict.coverage;
  expect(Math.min(granted, waiters, underClaim, byHolders)).toBeGreaterThan(20);
  expect(lapsed).toBeGreaterThan(0);
}

test.concurrent("[A19] holders, queue and writes pass the check while clients, servers, Postgres and connections fail", {
  timeout: 590_000,
}, async () => {
  const findings = await runClaims({
    ...SHORT,
    seed: 1,
    faultEveryMs: 3_000,
    faults: ["client", "server", "paused", "cut", "postgres"],
  });
  expectSound(findings);
  const { client, server, paused, cut, postgres } = findings.nemesis.done;
  expect(Math.min(client, server, paused, cut, postgres)).toBeGreaterThan(0);
});

test.concurrent("[A20] the clocks of the servers' processes do not matter, an hour fast or an hour slow", {
  timeout: 590_000,
}, async () => {
  const findings = await runClaims({
    ...SHORT,
    processes: 1,
    databaseUrl: database.url,
    seed: 2,
    servers: [shifted(HOUR_MS), shifted(-HOUR_MS)],
  });
  expectSound(findings);
});
