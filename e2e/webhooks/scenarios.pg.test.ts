import { freshDatabase } from "@holdfast/server/testing";
import { describe, expect, test } from "vitest";
import { gauntlet, killAtAnswer, poison, type Scenario, threeDays, twoServers } from "./scenarios.ts";

const scenarios: readonly Scenario[] = [killAtAnswer(1), twoServers, threeDays(3_000), poison, gauntlet];
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
