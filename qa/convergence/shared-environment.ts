import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultEnvironment } from "../support/fault-environment.ts";
import { convergeFrom, type Ended, openEnvironment } from "./run.ts";

/** One environment for the runs of a file. What they had is looked at in a test of its own, behind them. */
export async function sharedEnvironment() {
  const database = await freshDatabase();
  let environment: FaultEnvironment;
  const totals: Ended[] = [];
  beforeAll(async () => {
    environment = await openEnvironment(database.url);
  });
  afterAll(() => environment.close());
  return {
    async converge(seed: number): Promise<Ended> {
      const ended = await convergeFrom(environment, seed);
      totals.push(ended);
      return ended;
    },
    testTotals: () =>
      test("the runs had writes, conflicts, killed clients, and calls on streams", () => {
        const sum = (of: (ended: Ended) => number) => totals.reduce((all, ended) => all + of(ended), 0);
        expect(sum((e) => e.written)).toBeGreaterThan(20 * totals.length);
        expect(sum((e) => e.conflicts)).toBeGreaterThan(totals.length);
        expect(sum((e) => e.kills)).toBeGreaterThan(totals.length);
        expect(sum((e) => e.calls)).toBeGreaterThan(totals.length);
      }),
  };
}
