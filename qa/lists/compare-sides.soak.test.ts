import { expect, test } from "vitest";
import { freshClient } from "../../packages/server/src/testing/fresh-connection.ts";
import { compareSides } from "./compare-sides.ts";

// New seeds in every run. One that fails belongs into the pinned ones of compare-sides.pg.test.ts.

const { client: db } = await freshClient();

const FIRST = Math.floor(Math.random() * 2 ** 30);
const COMPARISONS = 1_000_000;

test(`[R61] a client sorts and filters as the server does, in ${COMPARISONS} comparisons`, async () => {
  console.log(`lists: seeds from ${FIRST}`);
  let done = 0;
  for (let seed = FIRST; done < COMPARISONS; seed++) {
    const { comparisons, differences } = await compareSides(db, seed);
    expect(differences).toEqual([]);
    done += comparisons;
  }
});
