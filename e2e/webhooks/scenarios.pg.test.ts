import { freshDatabase } from "@holdfast/server/testing";
import { describe, expect, test } from "vitest";
import { killAtAnswer, poison, type Scenario, threeDays, twoServers } from "./scenarios.ts";

const scenarios: readonly Scenario[] = [killAtAnswer, twoServers, threeDays(3_000), poison];
const databases: string[] = [];
for (const _ of scenarios) databases.push((await freshDatabase()).url);

describe.concurrent("what is done on purpose", () => {
  for (const [i, { says, play }] of scenarios.entries())
    test(says, { timeout: 120_000 }, async () => {
      const { verdict, unmet, figures } = await play({ databaseUrl: databases[i] as string, seed: i });
      console.log(says, figures, verdict.looked);
      expect(verdict.violations).toEqual([]);
      expect(unmet).toEqual([]);
    });
});
