import { join } from "node:path";
import { patchSources } from "../conformance/patched-server.ts";
import {
  FIRST_WITH_DOUBTS,
  FIRST_WITH_GUESTS,
  FIRST_WITH_PARTS,
  FIRST_WITH_SEQUENCES,
  FIRST_WITH_TENANTS,
  FIRST_WITH_VALUES,
} from "../simulation/model/run.ts";
import { runMany, SIMULATION } from "../simulation/run-many.ts";
import { type Mutant, mutants } from "../simulation/testing/mutants.ts";
import type { MutantCheck, Suite, TestEnvironment } from "./suite.ts";

/** The most schedules to find a bug. */
const PATIENCE = 2_000;
const FIRST = {
  tenants: FIRST_WITH_TENANTS,
  doubts: FIRST_WITH_DOUBTS,
  parts: FIRST_WITH_PARTS,
  values: FIRST_WITH_VALUES,
  guests: FIRST_WITH_GUESTS,
  sequences: FIRST_WITH_SEQUENCES,
};

export const simulation: Suite = {
  name: "simulate",
  // Each of them takes all processors.
  atOnce: 1,
  planted: mutants.map(
    (bug): MutantCheck => ({ ...bug, isQuick: bug.isQuick ?? false, find: (environment) => checkOf(bug, environment) }),
  ),
};

/** Runs schedules of a copy of the sources with the bug in it, until one of them shows something. */
async function checkOf({ edits, finds, needs }: Mutant, environment: TestEnvironment): Promise<string | undefined> {
  const { processes } = environment;
  const seed = environment.seed + (needs ? FIRST[needs] : 0);
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
