import { join } from "node:path";
import { FIRST_WITH_DOUBTS, FIRST_WITH_TENANTS } from "@holdfast/sdk/testing";
import { patchSources } from "../conformance/testing/patched-server.ts";
import { runMany, SIMULATION } from "../simulate/run-many.ts";
import { type PlantedBug, plantedBugs } from "../simulate/testing/planted-bugs.ts";
import type { Planted, Slot, Suite } from "./suite.ts";

/** Each bug has to be found within so many schedules. */
const PATIENCE = 2_000;
const FIRST = { tenants: FIRST_WITH_TENANTS, doubts: FIRST_WITH_DOUBTS };

export const simulation: Suite = {
  name: "simulate",
  // Each of them takes all processors.
  atOnce: 1,
  planted: plantedBugs.map(
    (bug): Planted => ({ ...bug, isQuick: bug.isQuick ?? false, find: (place) => checkOf(bug, place) }),
  ),
};

/** Runs schedules of a copy of the sources with the bug in it, until one of them shows something. */
async function checkOf({ edits, finds, needs }: PlantedBug, place: Slot): Promise<string | undefined> {
  const { processes } = place;
  const seed = place.seed + (needs ? FIRST[needs] : 0);
  const { folder, forget } = patchSources(edits);
  try {
    const file = join(folder, SIMULATION);
    const { broken } = await runMany({ file, seed, schedules: PATIENCE, processes, stopsAt: finds });
    const [first] = broken.filter(({ check }) => finds.includes(check)).toSorted((a, b) => a.seed - b.seed);
    return first && `${first.check} (in schedule ${first.seed - seed + 1})`;
  } finally {
    forget();
  }
}
