import { freshDatabase } from "@holdfast/server/testing";
import { test } from "vitest";
import { expectSound } from "./expect-sound.ts";

// The same as `npm run faults -- fuzz`, but short, and always the same seed. The soak suite takes a new one.
const PINNED = 20_260_131;
const REQUESTS = 800;
const database = await freshDatabase();

test(`[F1] [F2] [F3] [H7] every request is answered as documented, seed ${PINNED}`, () =>
  expectSound(database.url, PINNED, REQUESTS, { refusedQuietly: 20, entries: 5, frames: 0 }));
