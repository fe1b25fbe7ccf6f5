import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, expect, test } from "vitest";
import { openWorkerHost } from "../servers/worker-host.ts";
import { twoServers } from "./two-servers.ts";

// One scenario without kills and clocks. The soak suite has them all, and a random run under faults.

const database = await freshDatabase();
const workerHost = await openWorkerHost();
afterAll(() => workerHost.close());

test(twoServers.title, async () => {
  const { verdict, unmet } = await twoServers.play({ databaseUrl: database.url, seed: 1, workerHost });
  expect(verdict.violations).toEqual([]);
  expect(unmet).toEqual([]);
});
