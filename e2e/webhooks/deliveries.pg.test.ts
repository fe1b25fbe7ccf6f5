import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@holdfast/server";
import { expect, test } from "vitest";
import { runDeliveries } from "./run.ts";

test("everything committed arrives, in order, and twice only beside a retry, while everything fails that can", {
  timeout: 240_000,
}, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "holdfast-deliveries-data-"));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    const { verdict, hurt, calmMs } = await runDeliveries({
      databaseUrl: postgres.url,
      postgresDir: dataDir,
      seed: 1,
      servers: 2,
      endpoints: 5,
      writers: 3,
      forMs: 10_000,
      faultEveryMs: 1_000,
      meddleEveryMs: 800,
      faults: ["server", "stalled", "postgres", "receiver"],
      deeds: ["roll", "subscribe", "push", "disable", "enable", "replace", "skip", "test"],
      say: (line) => console.log(line),
    });
    console.log(verdict.looked, hurt, calmMs);
    expect(verdict.violations).toEqual([]);
    expect(hurt).toMatchObject({ server: 1, stalled: 1, postgres: 1, receiver: 1 });
    const { accepted, failed, neighbours, unsubscribed } = verdict.looked;
    expect(Math.min(accepted, failed, neighbours, unsubscribed)).toBeGreaterThan(20);
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
