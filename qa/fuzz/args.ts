import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run fuzz [-- --requests N] [--seed N] [--connections N]

Starts a server on an embedded Postgres in a temporary directory, and sends it requests and frames that are generated
from its own tables: valid ones, and ones with one to three errors. Every response is compared with the description and
the rules. If one violates them, the program exits with 1 and prints the smallest such request.

  --requests N     number of requests: 50000
  --seed N         repeats the same requests; with one connection they also arrive in the same order
  --connections N  requests in flight at the same time: 16
`;

const OPTIONS = {
  requests: { count: [1, 2 ** 31 - 1], default: 50_000 },
  seed: { count: [0, 2 ** 31 - 1] },
  connections: { count: [1, 256], default: 16 },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or an error message; "" if help was requested. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
