import { availableParallelism } from "node:os";
import { runProgram } from "../support/program.ts";
import { runSchedule } from "./model/run.ts";
import { shrunk } from "./model/shrink.ts";
import { report } from "./report.ts";
import { ownSimulation, runMany } from "./run-many.ts";

const SAY_EVERY_MS = 5_000;

await runProgram({
  name: "simulate",
  says: `Runs schedules: up to three devices with up to three tabs each (the real client on a simulated disk, clock, connection
and lock) and a model of the server. The schedule's seed decides what happens next: a write, a decision, one of the
pending effects, or a failure. Then all failures end, the client settles, is reloaded, and is compared with its rules.
If a rule is violated, the program exits with 1 and prints the seed, the fewest steps that still show the violation, and
a trace of them.`,
  options: {
    schedules: { says: "number of schedules", count: [1, 2 ** 31 - 1], default: 20_000 },
    seed: {
      says: "seed of the first schedule; the next seeds follow. With --schedules 1 it repeats one run, with its trace",
      count: [0, 2 ** 32 - 1],
    },
    processes: { says: "number of processes (default: one per processor)", count: [1, 64] },
  },
  async run({ schedules, seed = firstSeed(), processes = availableParallelism() }, print) {
    print(`seed ${seed}`);
    const startedAt = performance.now();
    let saidAt = startedAt;
    let told = 0;
    const totals = await runMany({
      ...{ file: ownSimulation, seed, schedules, processes },
      onTotals: (sum) => {
        for (; told < sum.broken.length; told += 1)
          print(`violation with seed ${sum.broken[told]?.seed}: ${sum.broken[told]?.check}`);
        if (performance.now() - saidAt < SAY_EVERY_MS) return;
        saidAt = performance.now();
        print(`${sum.schedules} of ${schedules} schedules, ${sum.broken.length} violations`);
      },
    });
    process.stdout.write(report(totals, seed, performance.now() - startedAt));
    const [first] = totals.broken;
    if (first) await tell(first.seed, print);
    else if (schedules === 1)
      process.stdout.write(`${(await runSchedule({ seed, isTraced: true })).trace.join("\n")}\n`);
    return first === undefined;
  },
});

/** The fewest steps that end in the same violation, and what happens in them. */
async function tell(seed: number, print: (line: string) => void): Promise<void> {
  const { violation } = await runSchedule({ seed });
  if (!violation) throw new Error(`Seed ${seed} broke something and does not any more: two runs of one seed differ.`);
  const { steps, run } = await shrunk(seed, violation);
  process.stdout.write(`\nseed ${seed}, steps ${steps.join(" ")}:\n${run.trace.join("\n")}\n`);
  process.stdout.write(`\nNot so: ${violation.check}. ${run.violation?.says}\n`);
  print(`again with --schedules 1 --seed ${seed}`);
}

/** The seeds of all schedules follow it. */
function firstSeed(): number {
  return Math.floor(Math.random() * (2 ** 32 - 2 ** 20));
}
