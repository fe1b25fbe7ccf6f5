import { availableParallelism } from "node:os";
import { type Args, readArgs, USAGE } from "./args.ts";
import { runSchedule } from "./model/run.ts";
import { shrunk } from "./model/shrink.ts";
import { report } from "./report.ts";
import { ownSimulation, runMany } from "./run-many.ts";

const SAY_EVERY_MS = 5_000;

const args = readArgs(process.argv.slice(2));
if (typeof args === "string") {
  process.stdout.write(args === "" ? USAGE : `${args}\n\n${USAGE}`);
  process.exitCode = args === "" ? 0 : 1;
} else process.exitCode = await simulate(args);

async function simulate({ schedules, seed = anySeed(), processes = availableParallelism() }: Args): Promise<number> {
  print(`seed ${seed}`);
  const startedAt = performance.now();
  let saidAt = startedAt;
  const totals = await runMany({
    file: ownSimulation,
    seed,
    schedules,
    processes,
    onTotals: (sum) => {
      if (performance.now() - saidAt < SAY_EVERY_MS) return;
      saidAt = performance.now();
      print(`${sum.schedules} of ${schedules} schedules, ${sum.broken.length} violations`);
    },
  });
  process.stdout.write(report(totals, seed, performance.now() - startedAt));
  const [first] = totals.broken;
  if (first) await tell(first.seed);
  else if (schedules === 1) process.stdout.write(`${(await runSchedule({ seed, isTraced: true })).trace.join("\n")}\n`);
  return first ? 1 : 0;
}

/** The fewest steps that end in the same violation, and what happens in them. */
async function tell(seed: number): Promise<void> {
  const { violation } = await runSchedule({ seed });
  if (!violation) throw new Error(`Seed ${seed} broke something and does not any more: two runs of one seed differ.`);
  const { steps, run } = await shrunk(seed, violation);
  process.stdout.write(`\nseed ${seed}, steps ${steps.join(" ")}:\n${run.trace.join("\n")}\n`);
  process.stdout.write(`\nNot so: ${violation.check}. ${run.violation?.says}\n`);
  print(`again with --schedules 1 --seed ${seed}`);
}

function anySeed(): number {
  return Math.floor(Math.random() * (2 ** 31 - 2 ** 20));
}

function print(line: string): void {
  process.stderr.write(`simulate: ${line}\n`);
}
