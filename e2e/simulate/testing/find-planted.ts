import { join } from "node:path";
import { patchSources } from "../../conformance/testing/patched-server.ts";
import { runMany, SIMULATION } from "../run-many.ts";
import type { Broken } from "../tally.ts";
import type { PlantedBug } from "./planted-bugs.ts";

export interface Found extends Broken {
  /** How many schedules were run until it was found, that one included. */
  readonly after: number;
}

/** Runs schedules of a copy of the sources with the bug in it, until one of them shows something. */
export async function findPlanted(
  { edits, finds }: PlantedBug,
  { seed, schedules, processes }: { seed: number; schedules: number; processes: number },
): Promise<Found | undefined> {
  const { folder, forget } = patchSources(edits);
  try {
    const file = join(folder, SIMULATION);
    const { broken } = await runMany({ file, seed, schedules, processes, stopsAt: finds });
    const [first] = broken.filter(({ check }) => finds.includes(check)).toSorted((a, b) => a.seed - b.seed);
    return first && { ...first, after: first.seed - seed + 1 };
  } finally {
    forget();
  }
}
