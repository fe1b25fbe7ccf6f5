import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, describe, expect, test } from "vitest";
import { openHouse } from "./house.ts";
import { gauntlet, killAtAnswer, poison, type Scenario, threeDays, twoServers } from "./scenarios.ts";

const scenarios: readonly Scenario[] = [killAtAnswer(1), twoServers, threeDays(3_000), poison, gauntlet];
const databases: string[] = [];
for (const _ of scenarios) databases.push((await freshDatabase()).url);
const house = await openHouse();
afterAll(() => house.close());

describe.concurrent("what is done on purpose", () => {
  for (const [i, { says, kills, play }] of scenarios.entries())
    test(says, { timeout: 120_000 }, async () => {
      const { verdict, unmet } = await play({
        databaseUrl: databases[i] as string,
        seed: i,
        ...(!kills && { house }),
      });
      expect(verdict.violations).toEqual([]);
      expect(unmet).toEqual([]);
    });
});
