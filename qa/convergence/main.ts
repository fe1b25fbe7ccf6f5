import { anySeed, runProgram } from "../support/program.ts";

const MOST = 2 ** 31 - 1;

await runProgram({
  name: "converge",
  says: `Runs devices that write at random against a real server with its own Postgres. Their connections lose, repeat and delay
messages, and devices are killed now and then. At the end all devices must show what the log says, and no write may be
lost or applied twice.`,
  options: {
    seeds: {
      says: "number of runs, each with its own seed, also from HOLDFAST_SEEDS",
      count: [1, MOST],
      default: Number(process.env.HOLDFAST_SEEDS ?? 200),
    },
    seed: { says: "one run, with this seed", count: [0, MOST] },
    steps: { says: "number of steps in a run", count: [1, MOST], default: 120 },
  },
  async run({ seeds: count, seed: one, steps }, print) {
    const { convergeFrom, startTestEnvironment } = await import("./run.ts");
    await using environment = await startTestEnvironment();
    const seeds = one !== undefined ? [one] : Array.from({ length: count }, anySeed);
    const sums = { runs: 0, written: 0, conflicts: 0, kills: 0 };
    print(`${seeds.length} runs of ${steps} steps …`);
    const failed: number[] = [];
    for (const seed of seeds) {
      try {
        const { written, conflicts, kills } = await convergeFrom(environment, seed, steps);
        sums.written += written;
        sums.conflicts += conflicts;
        sums.kills += kills;
      } catch (error) {
        failed.push(seed);
        print(`seed ${seed} failed: ${error instanceof Error ? error.message : error}`);
      }
      sums.runs += 1;
      if (sums.runs % 20 === 0 || sums.runs === seeds.length)
        print(
          `${sums.runs} runs, ${sums.written} log entries, ${sums.conflicts} conflicts answered, ${sums.kills} deaths, ${failed.length} failed`,
        );
    }
    if (failed.length > 0) print(`again with --seed ${failed.join(", --seed ")}`);
    return failed.length === 0;
  },
});
