import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@holdfast/server";
import { expect, test } from "vitest";
import { FAULTS, runTables } from "./run.ts";

test("[DS19] tables, records and log are equal after clients and SQL wrote the same rows while processes were killed", {
  timeout: 240_000,
}, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "holdfast-tables-data-"));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    const { verdict, hurt } = await runTables({
      ...{ databaseUrl: postgres.url, postgresDir: dataDir, seconds: 18, faultEveryMs: 2_500 },
      ...{ writers: 5, seed: 1, print: () => {} },
    });
    expect(verdict.violations).toEqual([]);
    const { transactions, contested, declined, besides } = verdict.coverage;
    expect(Math.min(transactions, contested)).toBeGreaterThan(20);
    expect(Math.min(declined, besides)).toBeGreaterThan(5);
    expect([...hurt.keys()].sort()).toEqual(Object.keys(FAULTS).sort());
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
