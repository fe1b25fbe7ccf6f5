import { test } from "vitest";
import { sharedEnvironment } from "./shared-environment.ts";

// New seeds in every run. One that fails belongs into the pinned ones of convergence.pg.test.ts.

const { converge, testTotals } = await sharedEnvironment();
const FIRST = Math.floor(Math.random() * 2 ** 31);
const RUNS = 20;
console.log(`convergence: seeds ${FIRST} to ${FIRST + RUNS - 1}`);

const seeds = Array.from({ length: RUNS }, (_, i) => FIRST + i);

test.each(seeds)("[R8] devices converge over bad connections, new seed %i", async (seed) => {
  await converge(seed);
});

testTotals();
