import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { convergeFrom, type Ended, startTestEnvironment, type TestEnvironment } from "./run.ts";

// New seeds in every run. One that fails belongs into the pinned ones of convergence.pg.test.ts.

const database = await freshDatabase();
const FIRST = Math.floor(Math.random() * 2 ** 31);
const RUNS = 20;
console.log(`convergence: seeds ${FIRST} to ${FIRST + RUNS - 1}`);

let environment: TestEnvironment;
const totals: Ended[] = [];
beforeAll(async () => {
  environment = await startTestEnvironment(database.url);
});
afterAll(() => environment.close());

const seeds = Array.from({ length: RUNS }, (_, i) => FIRST + i);

test.each(seeds)("[R8] devices converge over bad connections, new seed %i", async (seed) => {
  totals.push(await convergeFrom(environment, seed));
});

test("the runs had writes, conflicts and killed clients", () => {
  const sum = (of: (ended: Ended) => number) => totals.reduce((all, ended) => all + of(ended), 0);
  expect(sum((e) => e.written)).toBeGreaterThan(20 * totals.length);
  expect(sum((e) => e.conflicts)).toBeGreaterThan(totals.length);
  expect(sum((e) => e.kills)).toBeGreaterThan(totals.length);
});
