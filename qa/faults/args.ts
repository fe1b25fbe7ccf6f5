import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run faults [-- --kills N] [--writers N] [--plant]

Runs a server of its own in a temporary directory, lets writers write, kills the server and its Postgres
again and again, and then checks that every acknowledged write is there, once. Ends with 1 if one is not.

  --kills N     how often each of the two is killed: 20
  --writers N   how many write at the same time: 16
  --plant       takes one acknowledged write out of the log before the check, to show that it is noticed
`;

const OPTIONS = {
  kills: { count: [1, 10_000], default: 20 },
  writers: { count: [1, 10_000], default: 16 },
  plant: { flag: true },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
