import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run tables [-- --minutes N] [--writers N] [--seed N]

Starts two servers on one Postgres in a temporary directory, attaches three tables, and writes the same rows from two
sides: clients of the server, and plain SQL that knows nothing of it. Meanwhile servers and Postgres are killed and
suspended. Then a checker compares tables, records and log with what the writers remember. If it finds a violation, the
program exits with 1.

  --minutes N   how long they write: 2
  --writers N   writers of each kind: 8
  --seed N      repeats the same choices; their timing differs from run to run
`;

const OPTIONS = {
  minutes: { count: [1, 600], default: 2 },
  writers: { count: [1, 100], default: 8 },
  seed: { count: [0, 2 ** 31 - 1] },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or an error message; "" if help was requested. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
