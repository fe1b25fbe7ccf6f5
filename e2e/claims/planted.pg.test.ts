import { freshDatabase } from "@holdfast/server/testing";
import { describe, expect, test } from "vitest";
import { patchSources } from "../conformance/testing/patched-server.ts";
import { runClaims } from "./run.ts";
import { plantedBugs } from "./testing/planted-bugs.ts";
import { shifted } from "./testing/shifted-clock.ts";

const databases: string[] = [];
for (const _ of plantedBugs) databases.push((await freshDatabase()).url);

/** A short run without faults: what is wrong with the sources shows by itself. */
const SHORT = { claimants: 12, records: 2, processes: 1, operations: 700, withinMs: 30_000, say: () => {} };

describe("[A19] the checker finds a planted bug", () => {
  for (const [i, { name, edits, finds, shiftMs }] of plantedBugs.entries())
    test(name, { timeout: 120_000 }, async () => {
      const { main, forget } = patchSources(edits);
      try {
        const { verdict } = await runClaims({
          ...SHORT,
          databaseUrl: databases[i] as string,
          seed: i + 1,
          servers: [{ main }, shiftMs === undefined ? { main } : shifted(shiftMs, { main })],
        });
        const found = new Set(verdict.violations.map(({ kind }) => kind));
        expect(finds.filter((kind) => found.has(kind))).not.toEqual([]);
      } finally {
        forget();
      }
    });
});
