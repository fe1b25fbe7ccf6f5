import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { shifted } from "../support/shifted-clock.ts";
import { runClaims } from "./run.ts";

// One short run without faults. The soak suite has a longer one, with faults.

const HOUR_MS = 3_600_000;
const database = await freshDatabase();

test("[A19] [A20] holders, queue and writes pass the check, with one server's clock an hour fast and the other's an hour slow", async () => {
  const { verdict, audited } = await runClaims({
    claimants: 12,
    records: 3,
    processes: 1,
    operations: 250,
    // It ends when so many requests were answered, however long they take.
    withinMs: 600_000,
    print: () => {},
    databaseUrl: database.url,
    seed: 2,
    servers: [shifted(HOUR_MS), shifted(-HOUR_MS)],
  });
  expect(verdict.violations).toEqual([]);
  expect(audited.violations).toEqual([]);
  const { granted, waiters, underClaim, byHolders } = verdict.coverage;
  for (const count of [granted, waiters, underClaim, byHolders]) expect(count).toBeGreaterThan(0);
});
