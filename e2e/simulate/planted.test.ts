import { expect, test } from "vitest";
import { findPlanted } from "./testing/find-planted.ts";
import { plantedBugs } from "./testing/planted-bugs.ts";

// Those that show in a few schedules; `npm run simulate -- --planted` looks for all of them.

const SCHEDULES = 100;

test("there are at least twenty planted bugs, each with another name", () => {
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
  expect(plantedBugs.length).toBeGreaterThanOrEqual(20);
});

test.each(plantedBugs.filter(({ isQuick }) => isQuick))("[R15] found: $name", { timeout: 300_000 }, async (bug) => {
  const found = await findPlanted(bug, { seed: 5_000, schedules: SCHEDULES, processes: 1 });
  expect(bug.finds).toContain(found?.check);
});
