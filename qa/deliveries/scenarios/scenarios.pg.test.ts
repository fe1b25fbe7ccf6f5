import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { twoServers } from "./two-servers.ts";

// One scenario without kills and clocks. The soak suite has them all, and a random run under faults.

const database = await freshDatabase();

test(`[W14] ${twoServers.title}, nothing missing, nothing twice`, async () => {
  const { verdict, unmet } = await twoServers.play({ databaseUrl: database.url, seed: 1 });
  expect(verdict.violations).toEqual([]);
  expect(unmet).toEqual([]);
});
