import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run fuzz [-- --requests N] [--seed N] [--connections N]

Runs a server of its own on an embedded Postgres in a temporary directory, and fires requests and frames at it that
are made from its own tables: right ones, and ones that are wrong in one to three places. Every answer is held against
what is described and promised. Ends with 1 if one is not, with the request as small as it could be made.

  --requests N     how many requests: 50000
  --seed N         makes the same requests again; over one connection they also meet in the same order
  --connections N  requests on their way at the same time: 16
`;

const OPTIONS = {
  requests: { count: [1, 2 ** 31 - 1], default: 50_000 },
  seed: { count: [0, 2 ** 31 - 1] },
  connections: { count: [1, 256], default: 16 },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
