import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const PARTS = ["kill", "two", "stall", "days", "poison", "gauntlet", "run"] as const;
export type Part = (typeof PARTS)[number];

export const USAGE = `Usage: npm run deliveries [-- --seconds N] [--endpoints N] [--writers N] [--servers N] [--events N] [--only PARTS] [--seed N]

Servers on one Postgres in a temporary directory that deliver webhooks to a receiver in a process of its own. First what is
done on purpose: kills between an answer and the cursor, two servers, a sender that stands still, an endpoint that was away for
three days, a poison event, and everything else at once. Then a run at random: writers write, the receiver fails in every way,
servers, receiver and Postgres are killed and stopped, the owner meddles. A judge holds everything that came against the log and
what deliveries promise.
Ends with 1 when something was broken, and then leaves all that was seen in a file.

  --seconds N    length of the run, before the calm: 120
  --endpoints N  at its beginning: 8
  --writers N    6
  --servers N    that deliver: 2
  --events N     that are committed while an endpoint is away: 100000
  --only PARTS   some of ${PARTS.join(", ")}, with commas between
  --seed N       makes the same choices again; how they meet differs from run to run
`;

const OPTIONS = {
  seconds: { count: [1, 86_400], default: 120 },
  endpoints: { count: [1, 18], default: 8 },
  writers: { count: [1, 100], default: 6 },
  servers: { count: [1, 8], default: 2 },
  events: { count: [1, 10_000_000], default: 100_000 },
  seed: { count: [0, 2 ** 31 - 1] },
  only: { someOf: PARTS },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
