import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run simulate [-- --schedules N] [--seed N] [--processes N]

Runs schedules: up to three devices with up to three tabs each (the real client on a simulated disk, clock, connection
and lock) and a model of the server. The schedule's seed decides what happens next: a write, a decision, one of the
pending effects, or a failure. Then all failures end, the client settles, is reloaded, and is compared with its rules.
If a rule is violated, the program exits with 1 and prints the seed, the fewest steps that still show the violation, and
a trace of them.

  --schedules N  number of schedules: 20000
  --seed N       seed of the first schedule; the next seeds follow. With --schedules 1 it repeats one run, with its trace
  --processes N  number of processes (default: one per processor)
`;

const OPTIONS = {
  schedules: { count: [1, 2 ** 31 - 1], default: 20_000 },
  seed: { count: [0, 2 ** 31 - 1] },
  processes: { count: [1, 64] },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or an error message; "" if help was requested. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
