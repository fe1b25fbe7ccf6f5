import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, describe, expect, test } from "vitest";
import { openWorkerHost } from "../servers/worker-host.ts";
import { gauntlet } from "./gauntlet.ts";
import { killAtAnswer } from "./kill-at-answer.ts";
import { poison } from "./poison.ts";
import type { Scenario } from "./scenario.ts";
import { stalledSender } from "./stalled-sender.ts";
import { threeDays } from "./three-days.ts";
import { twoServers } from "./two-servers.ts";

const scenarios: readonly Scenario[] = [killAtAnswer(1), twoServers, stalledSender, threeDays(3_000), poison, gauntlet];
const databases: string[] = [];
for (const _ of scenarios) databases.push((await freshDatabase()).url);
const workerHost = await openWorkerHost();
afterAll(() => workerHost.close());

describe.concurrent("scenarios", () => {
  for (const [i, { title, kills, play }] of scenarios.entries())
    test(title, async () => {
      const { verdict, unmet } = await play({
        databaseUrl: databases[i] as string,
        seed: i,
        ...(!kills && { workerHost }),
      });
      expect(verdict.violations).toEqual([]);
      expect(unmet).toEqual([]);
    });
});
