import { freshDatabase } from "@holdfast/server/testing";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compareSides } from "./compare-sides.ts";

// The same seeds in every run; the soak suite takes new ones. One that ever failed is written down below and stays.

const { url } = await freshDatabase();
const db = new pg.Client({ connectionString: url });
beforeAll(() => db.connect());
afterAll(() => db.end());

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
