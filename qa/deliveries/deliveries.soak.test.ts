import { expect, test } from "vitest";
import { runDeliveries } from "./run/run.ts";

test("under all faults every committed event arrives in order, and duplicates come only from retries", {
  timeout: 240_000,
}, async () => {
  const { verdict, nemesis, ownerChanges, calmMs } = await runDeliveries({
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
  const { server, receiver, stalled, postgres } = nemesis.done;
  expect(Math.min(server, receiver, stalled, postgres, ...Object.values(ownerChanges.done))).toBeGreaterThan(0);
  const { accepted, failed, neighbours, unsubscribed } = verdict.coverage;
  expect(Math.min(accepted, failed, neighbours, unsubscribed)).toBeGreaterThan(20);
});
