import { fileURLToPath } from "node:url";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { describe, expect, test } from "vitest";
import { patchSources, startPatched } from "../conformance/testing/patched-server.ts";
import type { Edit } from "../conformance/testing/planted-bugs.ts";
import { movableClock } from "../support/movable-clock.ts";
import type { Verdict } from "./check.ts";
import { runClaims } from "./run.ts";
import { plantedBugs, plantedPromotions } from "./testing/planted-bugs.ts";
import { judgePromotions } from "./testing/promotions.ts";
import { shifted } from "./testing/shifted-clock.ts";

const databases: string[] = [];
for (let i = 0; i <= plantedBugs.length + plantedPromotions.length; i++) databases.push((await freshDatabase()).url);

/** A run without faults until the checker has found it: what is wrong with the sources shows by itself, and soon. */
const RUN = { claimants: 12, records: 2, processes: 1, operations: 4_000, withinMs: 90_000, say: () => {} };

describe.concurrent("[A19] the checker finds a planted bug", () => {
  for (const [i, { name, edits, finds, shiftMs }] of plantedBugs.entries())
    test(name, { timeout: 180_000 }, async () => {
      const { main, forget } = patchSources(edits);
      try {
        const isFound = ({ violations }: Verdict) => violations.some(({ kind }) => finds.includes(kind));
        const { verdict } = await runClaims({
          ...RUN,
          databaseUrl: databases[i] as string,
          seed: i + 1,
          servers: [{ main }, shiftMs === undefined ? { main } : shifted(shiftMs, { main })],
          enough: isFound,
        });
        expect(isFound(verdict)).toBe(true);
      } finally {
        forget();
      }
    });
});

const SCHEMA = fileURLToPath(new URL("../../packages/server/reference-schema.json", import.meta.url));

describe.concurrent("[A7] a waiter is judged again when its turn comes", () => {
  const judge = async (edits: readonly Edit[], databaseUrl: string) => {
    const key = newSecretToken(true);
    const clock = await movableClock(databaseUrl);
    const server = await startPatched(edits, {
      DATABASE_URL: databaseUrl,
      HOLDFAST_SECRET_KEY: key,
      HOLDFAST_MASTER_KEY: newMasterKey(),
      HOLDFAST_SCHEMA: SCHEMA,
      HOLDFAST_LOG_LEVEL: "silent",
    });
    try {
      return await judgePromotions(server.url, key, clock);
    } finally {
      await server.stop();
      await clock.close();
    }
  };

  for (const [i, { name, edits }] of plantedPromotions.entries())
    test(`it is found out when ${name}`, { timeout: 180_000 }, async () => {
      expect(await judge(edits, databases[plantedBugs.length + i] as string)).toHaveLength(1);
    });

  test("and otherwise there is nothing to find", { timeout: 180_000 }, async () => {
    expect(await judge([], databases.at(-1) as string)).toEqual([]);
  });
});
