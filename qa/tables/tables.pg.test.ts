import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { runTables } from "./run.ts";

// One short run without faults. The soak suite has longer ones, with faults.

const database = await freshDatabase();

test("[DS19] tables, records and log are equal after clients and SQL wrote the same rows", {
  timeout: 120_000,
}, async () => {
  const { verdict } = await runTables({
    ...{ seconds: 5, writers: 4, seed: 3, print: () => {}, databaseUrl: database.url },
  });
  expect(verdict.violations).toEqual([]);
  const { transactions, contested, besides, large } = verdict.coverage;
  expect(Math.min(transactions, contested, besides)).toBeGreaterThan(0);
  expect(Math.min(large.rows.verified, large.unreadable.verified)).toBeGreaterThan(0);
});
