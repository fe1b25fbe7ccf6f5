import { expect, test } from "vitest";
import { freshClient } from "../../packages/server/src/testing/fresh-connection.ts";
import { compareSides } from "./compare-sides.ts";

// The same seeds in every run; the soak suite takes new ones. One that ever failed is written down below and stays.

const { client: db } = await freshClient();

const FIRST = 20_261_127;
const PINNED: readonly number[] = [];

test.each([...PINNED, ...Array.from({ length: 6 }, (_, i) => FIRST + i)])(
  "[R61] a client sorts and filters as the server does, seed %i",
  async (seed) => {
    const { comparisons, differences } = await compareSides(db, seed);
    expect(differences).toEqual([]);
    expect(comparisons).toBeGreaterThan(10_000);
  },
);
