import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run claims [-- --claimants N] [--operations N] [--records N] [--minutes N] [--seed N]

Two servers on one Postgres in a temporary directory, and claimants in processes of their own that claim, wait, write,
renew, give up and forget on a few hot records, while clients and servers are killed and stopped, Postgres is restarted
and connections are cut. Every request is remembered, and a checker holds all of it against what claims promise.
Ends with 1 when something was broken, and then leaves the whole history in a file.

  --claimants N   participants, each with a token of its own: 60
  --operations N  requests of all of them together: 20000
  --records N     what they fight over: 12
  --minutes N     ends then at the latest: 15
  --seed N        makes the same choices again; how they meet differs from run to run
`;

const OPTIONS = {
  claimants: { count: [2, 500], default: 60 },
  operations: { count: [1, 10_000_000], default: 20_000 },
  records: { count: [2, 100], default: 12 },
  minutes: { count: [1, 600], default: 15 },
  seed: { count: [0, 2 ** 31 - 1] },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
