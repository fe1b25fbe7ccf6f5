import { availableParallelism } from "node:os";
import { runSchedule, shrunk } from "@holdfast/sdk/testing";
import { report } from "./report.ts";
import { ownSimulation, runMany } from "./run-many.ts";
import { readWords, USAGE, type Words } from "./words.ts";

const SAY_EVERY_MS = 5_000;

const words = readWords(process.argv.slice(2));
if (typeof words === "string") {
  process.stdout.write(words === "" ? USAGE : `${words}\n\n${USAGE}`);
  process.exitCode = words === "" ? 0 : 1;
} else process.exitCode = await simulate(words);

async function simulate({ schedules, seed = anySeed(), processes = availableParallelism() }: Words): Promise<number> {
  say(`seed ${seed}`);
  const startedAt = performance.now();
  let saidAt = startedAt;
  const tally = await runMany({
    file: ownSimulation,
    seed,
    schedules,
    processes,
    heard: (sum) => {
      if (performance.now() - saidAt < SAY_EVERY_MS) return;
      saidAt = performance.now();
      say(`${sum.schedules} of ${schedules} schedules, ${sum.broken.length} violations`);
    },
  });
  process.stdout.write(report(tally, seed, performance.now() - startedAt));
  const [first] = tally.broken;
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
  say(`again with --schedules 1 --seed ${seed}`);
}

function anySeed(): number {
  return Math.floor(Math.random() * 2 ** 30);
}

function say(line: string): void {
  process.stderr.write(`simulate: ${line}\n`);
}
