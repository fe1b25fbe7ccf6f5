import { pathToFileURL } from "node:url";
import type { Outcome, Schedule } from "./model/run.ts";
import { emptyTotals } from "./totals.ts";

// Runs schedules of one copy of the sources, and prints the results of every few as a line of JSON:
// node … runner-process.ts <file with runSchedule> <first seed> <step to the next seed> <how many> <checks to end at>

/** How many schedules per printed line. */
const AT_ONCE = 20;

const [file = "", first, step, many, stopsAt = "[]"] = process.argv.slice(2);
const { runSchedule } = (await import(pathToFileURL(file).href)) as {
  runSchedule(schedule: Schedule): Promise<Outcome>;
};
// Refused writes are errors with a stack each, which is not needed here.
Error.stackTraceLimit = 0;

const ends = new Set(JSON.parse(stopsAt) as string[]);
let totals = emptyTotals();
for (let i = 0; i < Number(many); i++) {
  const seed = Number(first) + i * Number(step);
  const { violation, picks, counts } = await runSchedule({ seed });
  totals.schedules += 1;
  totals.picks += picks;
  for (const [what, often] of counts) totals.counts[what] = (totals.counts[what] ?? 0) + often;
  if (violation) totals.broken.push({ seed, check: violation.check, says: violation.says });
  if (violation && ends.has(violation.check)) break;
  if (totals.schedules >= AT_ONCE) postTotals();
}
postTotals();

function postTotals(): void {
  process.stdout.write(`${JSON.stringify(totals)}\n`);
  totals = emptyTotals();
}
