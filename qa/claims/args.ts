import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run claims [-- --claimants N] [--operations N] [--records N] [--minutes N] [--seed N]
                          [--attached]

Starts two servers on one Postgres in a temporary directory, and claimants in their own processes that claim, wait,
write, renew, release and abandon claims on a few contested records. Meanwhile clients and servers are killed and
paused, Postgres is restarted and connections are cut. A checker compares all requests and responses with the rules
for claims. If it finds a violation, the program exits with 1 and writes the whole history to a file.

  --claimants N   participants, each with its own token: 60
  --operations N  requests of all participants together: 20000
  --records N     contested records: 12
  --minutes N     time limit: 15
  --seed N        repeats the same choices; their timing differs from run to run
  --attached      the rows of the records are in attached tables
`;

const OPTIONS = {
  claimants: { count: [2, 500], default: 60 },
  operations: { count: [1, 10_000_000], default: 20_000 },
  records: { count: [2, 100], default: 12 },
  minutes: { count: [1, 600], default: 15 },
  seed: { count: [0, 2 ** 31 - 1] },
  attached: { flag: true },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or an error message; "" if help was requested. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
