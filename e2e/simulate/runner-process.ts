import { pathToFileURL } from "node:url";
import type { Outcome, Schedule } from "@holdfast/sdk/testing";
import { emptyTally } from "./tally.ts";

// Runs schedules of one copy of the sources, and says after each few what came of them, a line of JSON each:
// node … runner-process.ts <file with runSchedule> <first seed> <step to the next seed> <how many> <checks to end at>

/** Sayings are for progress; each costs a line. */
const AT_ONCE = 20;

const [file = "", first, step, many, stopsAt = "[]"] = process.argv.slice(2);
const { runSchedule } = (await import(pathToFileURL(file).href)) as {
  runSchedule(schedule: Schedule): Promise<Outcome>;
};
// Refused writes are errors with a stack each, which nobody reads here.
Error.stackTraceLimit = 0;

const ends = new Set(JSON.parse(stopsAt) as string[]);
let tally = emptyTally();
for (let i = 0; i < Number(many); i++) {
  const seed = Number(first) + i * Number(step);
  const { violation, picks, counts } = await runSchedule({ seed });
  tally.schedules += 1;
  tally.picks += picks;
  for (const [what, often] of counts) tally.counts[what] = (tally.counts[what] ?? 0) + often;
  if (violation) tally.broken.push({ seed, check: violation.check, says: violation.says });
  if (violation && ends.has(violation.check)) break;
  if (tally.schedules >= AT_ONCE) say();
}
say();

function say(): void {
  process.stdout.write(`${JSON.stringify(tally)}\n`);
  tally = emptyTally();
}
