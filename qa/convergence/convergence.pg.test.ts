import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { convergeFrom, type Ended, startTestEnvironment, type TestEnvironment } from "./run.ts";

// Real clients against the real server over lines that lose, repeat and delay, with devices that die between two
// steps. The same seeds in every run; the soak suite and `npm run converge` take new ones. One that ever failed is written
// down below and stays.

const database = await freshDatabase();
const FIRST = 20_260_131;
const RUNS = 4;
const PINNED: readonly number[] = [];

let environment: TestEnvironment;
const totals: Ended[] = [];
beforeAll(async () => {
  environment = await startTestEnvironment(database.url);
});
afterAll(() => environment.close());

const fresh = Array.from({ length: RUNS }, (_, i) => FIRST + i);

test.each([...PINNED, ...fresh])("[R8] devices converge over bad connections, seed %i", async (seed) => {
  const ended = await convergeFrom(environment, seed);
  expect(ended.written).toBeGreaterThan(10);
  totals.push(ended);
});

test("the runs had writes, conflicts and killed clients", () => {
  const sum = (of: (ended: Ended) => number) => totals.reduce((all, ended) => all + of(ended), 0);
  expect(sum((e) => e.written)).toBeGreaterThan(20 * totals.length);
  expect(sum((e) => e.conflicts)).toBeGreaterThan(totals.length);
  expect(sum((e) => e.kills)).toBeGreaterThan(totals.length);
});
