import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const PARTS = ["kill", "two", "stall", "days", "gauntlet", "run"] as const;
export type Part = (typeof PARTS)[number];

export const USAGE = `Usage: npm run deliveries [-- --seconds N] [--endpoints N] [--writers N] [--servers N] [--events N] [--only PARTS] [--seed N]
                              [--attached]

Starts servers on one Postgres in a temporary directory that deliver webhooks to a receiver in its own process. First come
fixed scenarios: kills between a response and the cursor, two servers, a sender that is paused, an endpoint that was
offline for three days, and everything else at once. Then comes a random run: writers write, the receiver
fails in every way, servers, receiver and Postgres are killed and paused, and the owner changes settings. A checker
compares all requests with the log and with the rules for deliveries. If it finds a violation, the program exits with 1
and writes everything that it saw to a file.

  --seconds N    length of the random run, before the failures end: 120
  --endpoints N  endpoints at its start: 8
  --writers N    clients that write: 6
  --servers N    servers that deliver: 2
  --events N     events that are committed while an endpoint is offline: 100000
  --only PARTS   some of ${PARTS.join(", ")}, separated by commas
  --seed N       repeats the same choices; their timing differs from run to run
  --attached     the rows of the records are in attached tables
`;

const OPTIONS = {
  seconds: { count: [1, 86_400], default: 120 },
  endpoints: { count: [1, 18], default: 8 },
  writers: { count: [1, 100], default: 6 },
  servers: { count: [1, 8], default: 2 },
  events: { count: [1, 10_000_000], default: 100_000 },
  seed: { count: [0, 2 ** 31 - 1] },
  only: { someOf: PARTS },
  attached: { flag: true },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or an error message; "" if help was requested. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
