import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@holdfast/server";
import { expect, test } from "vitest";
import { runDeliveries } from "./run/run.ts";

test("under all faults every committed event arrives in order, and duplicates come only from retries", {
  timeout: 240_000,
}, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "holdfast-deliveries-data-"));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    const { verdict, hurt, done, calmMs } = await runDeliveries({
      databaseUrl: postgres.url,
      postgresDir: dataDir,
      seed: 1,
      servers: 2,
      endpoints: 5,
      writers: 3,
      forMs: 5_000,
      faultEveryMs: 800,
      meddleEveryMs: 500,
      deathsEveryMs: 30_000,
      faults: ["server", "receiver", "stalled", "postgres"],
      changes: ["roll", "subscribe", "move", "push", "disable", "enable", "replace", "skip", "test"],
      print: () => {},
    });
    expect(verdict.violations).toEqual([]);
    expect(calmMs).toBeDefined();
    expect(Math.min(hurt.server, hurt.receiver, hurt.stalled, hurt.postgres, ...Object.values(done))).toBeGreaterThan(
      0,
    );
    const { accepted, failed, neighbours, unsubscribed } = verdict.coverage;
    expect(Math.min(accepted, failed, neighbours, unsubscribed)).toBeGreaterThan(20);
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
