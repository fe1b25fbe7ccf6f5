import { freshDatabase } from "@holdfast/server/testing";
import { test } from "vitest";
import { expectSound } from "./expect-sound.ts";

// The same as `npm run faults -- fuzz`, but shorter. The seed is new in every run.

const SEED = Math.floor(Math.random() * 2 ** 31);
const REQUESTS = 5_000;
console.log(`fuzz: seed ${SEED}`);
const database = await freshDatabase();

test(`[F1] [F2] [F3] [H7] every request is answered as documented, new seed ${SEED}`, () =>
  expectSound(database.url, SEED, REQUESTS, { refusedQuietly: 150, entries: 50, frames: 25 }));
