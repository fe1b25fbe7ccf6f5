import { readArgs } from "../support/read-args.ts";

const HELP = `Usage: npm run converge [-- --seeds 200] [--seed 12345] [--steps 120]

Runs devices that write at random against a real server with its own Postgres. Their connections lose, repeat and delay
messages, and devices are killed now and then. At the end all devices must show what the log says, and no write may be
lost or applied twice.

  --seeds  number of runs, each with its own seed: 200, or HOLDFAST_SEEDS
  --seed   one run, with this seed
  --steps  number of steps in a run: 120
`;

const MOST = 2 ** 31 - 1;
const args = readArgs(
  {
    seeds: { count: [1, MOST], default: Number(process.env.HOLDFAST_SEEDS ?? 200) },
    seed: { count: [0, MOST] },
    steps: { count: [1, MOST], default: 120 },
  } as const,
  process.argv.slice(2),
);

if (typeof args !== "string") process.exitCode = await converge(args);
else {
  (args === "" ? process.stdout : process.stderr).write(args === "" ? HELP : `${args}\n\n${HELP}`);
  process.exitCode = args === "" ? 0 : 2;
}

async function converge(wanted: Exclude<typeof args, string>): Promise<number> {
  // Loaded only now, so that `--help` answers at once.
  const { convergeFrom, startTestEnvironment } = await import("./run.ts");
  const environment = await startTestEnvironment();
  const seeds =
    wanted.seed !== undefined
      ? [wanted.seed]
      : Array.from({ length: wanted.seeds }, () => Math.floor(Math.random() * MOST));
  const sums = { runs: 0, written: 0, conflicts: 0, kills: 0 };
  process.stderr.write(`converge: ${seeds.length} runs of ${wanted.steps} steps …\n`);
  const failed: number[] = [];
  try {
    for (const seed of seeds) {
      try {
        const { written, conflicts, kills } = await convergeFrom(environment, seed, wanted.steps);
        sums.written += written;
        sums.conflicts += conflicts;
        sums.kills += kills;
      } catch (error) {
        failed.push(seed);
        process.stderr.write(`converge: seed ${seed} failed: ${error instanceof Error ? error.message : error}\n`);
      }
      sums.runs += 1;
      if (sums.runs % 20 === 0 || sums.runs === seeds.length)
        process.stderr.write(
          `converge: ${sums.runs} runs, ${sums.written} log entries, ${sums.conflicts} conflicts answered, ${sums.kills} deaths, ${failed.length} failed\n`,
        );
    }
  } finally {
    await environment.close();
  }
  if (failed.length > 0) process.stderr.write(`converge: again with --seed ${failed.join(", --seed ")}\n`);
  return failed.length > 0 ? 1 : 0;
}
