import { allSteps, type Outcome, runSchedule, type Violation } from "./run.ts";

/** How many runs may be spent on making a schedule shorter. */
const MOST_RUNS = 300;

/**
 * A schedule that ends in the same violation with fewer steps: first those after it go, then ranges of those before
 * it, longer ones first. Gives back its run, with the trace.
 */
export async function shrunk(seed: number, violation: Violation): Promise<{ steps: readonly number[]; run: Outcome }> {
  let runs = 0;
  const breaks = async (steps: readonly number[]) => {
    runs += 1;
    return (await runSchedule({ seed, steps })).violation?.check === violation.check;
  };
  let steps = allSteps.filter((step) => step <= (violation.step ?? allSteps.length));
  for (let length = Math.ceil(steps.length / 2); length >= 1; length = length === 1 ? 0 : Math.ceil(length / 2))
    for (let at = 0; at < steps.length && runs < MOST_RUNS; ) {
      const shorter = [...steps.slice(0, at), ...steps.slice(at + length)];
      if (await breaks(shorter)) steps = shorter;
      else at += length;
    }
  return { steps, run: await runSchedule({ seed, steps, isTraced: true }) };
}
