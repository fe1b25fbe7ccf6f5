import { expect, test } from "vitest";
import { runTables } from "./run.ts";

test("[DS19] tables, records and log are equal after clients and SQL wrote the same rows while processes were killed", {
  timeout: 240_000,
}, async () => {
  const { verdict, nemesis } = await runTables({
    ...{ seconds: 40, faultEveryMs: 4_000 },
    ...{ writers: 5, seed: 1, print: () => {} },
  });
  expect(verdict.violations).toEqual([]);
  const { transactions, contested, declined, besides } = verdict.coverage;
  expect(Math.min(transactions, contested)).toBeGreaterThan(20);
  expect(Math.min(declined, besides)).toBeGreaterThan(5);
  const { rows, byClients, unreadable, transactions: large } = verdict.coverage.large;
  for (const { written, verified } of [rows, byClients, unreadable, large]) {
    expect(verified).toBeGreaterThan(0);
    expect(verified).toBe(written);
  }
  expect(Math.min(...Object.values(nemesis.done))).toBeGreaterThan(0);
});
