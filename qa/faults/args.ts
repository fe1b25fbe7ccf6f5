import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run faults [-- --kills N] [--writers N] [--attached] [--moves] [--endpoint] [--plant]

Starts a server in a temporary directory with clients that write, kills the server and its Postgres again and again,
and then checks that every acknowledged write is in the log exactly once. Exits with 1 if one is not.

  --kills N     how often each of the two is killed: 20
  --writers N   clients that write at the same time: 16
  --attached    the rows of the records are in attached tables
  --moves       the tenant moves into another Postgres and back all the while; that one is killed too
  --endpoint    the records are in a service behind an endpoint datasource; that one is killed too
  --plant       removes one acknowledged write from the log before the check, to show that the check finds it
`;

const OPTIONS = {
  kills: { count: [1, 10_000], default: 20 },
  writers: { count: [1, 10_000], default: 16 },
  attached: { flag: true },
  moves: { flag: true },
  endpoint: { flag: true },
  plant: { flag: true },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or an error message; "" if help was requested. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
