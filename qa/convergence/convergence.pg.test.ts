import { expect, test } from "vitest";
import { sharedEnvironment } from "./shared-environment.ts";

// Real clients against the real server over lines that lose, repeat and delay, with devices that die between two
// steps. The same seeds in every run; the soak suite and `npm run faults -- converge` take new ones. One that ever failed is written
// down below and stays.

const { converge, testTotals } = await sharedEnvironment();
const FIRST = 20_260_131;
const RUNS = 4;
const PINNED: readonly number[] = [];

const fresh = Array.from({ length: RUNS }, (_, i) => FIRST + i);

test.each([...PINNED, ...fresh])("[R8] devices converge over bad connections, seed %i", async (seed) => {
  expect((await converge(seed)).written).toBeGreaterThan(10);
});

testTotals();
