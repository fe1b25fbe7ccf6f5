import { expect, test } from "vitest";
import { shifted } from "../support/shifted-clock.ts";
import { runClaims } from "./run.ts";

const HOUR_MS = 3_600_000;

test("[A19] [A20] holders, queue and writes pass the check while clients, servers, Postgres and connections fail, and the servers' clocks are hours apart", {
  timeout: 590_000,
}, async () => {
  const { verdict, audited, nemesis } = await runClaims({
    // It ends when so many requests were answered, however long they take.
    ...{ claimants: 12, records: 3, processes: 3, operations: 600, withinMs: 300_000, print: () => {} },
    seed: 1,
    servers: [shifted(HOUR_MS), shifted(-HOUR_MS)],
    faultEveryMs: 3_000,
    faults: ["client", "server", "paused", "cut", "postgres"],
  });
  expect(verdict.violations).toEqual([]);
  expect(audited.violations).toEqual([]);
  const { granted, waiters, underClaim, byHolders, lapsed } = verdict.coverage;
  expect(Math.min(granted, waiters, underClaim, byHolders)).toBeGreaterThan(20);
  expect(lapsed).toBeGreaterThan(0);
  const { client, server, paused, cut, postgres } = nemesis.done;
  expect(Math.min(client, server, paused, cut, postgres)).toBeGreaterThan(0);
});
