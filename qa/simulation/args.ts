import { type ArgsOf, readArgs as read } from "../support/read-args.ts";

export const USAGE = `Usage: npm run simulate [-- --schedules N] [--seed N] [--processes N]

Runs schedules: up to three devices with up to three tabs each, which are the real client on a simulated disk, clock,
line and lock, and a server by the service's rules. What happens next is drawn from the schedule's seed: a write, a
decision, one of all that is under way, or something that goes wrong. Then everything works again, comes to rest, is
reloaded, and is held against what the client promises. Ends with 1 when something was not so, with its seed, the
fewest steps that still show it, and what happened in them.

  --schedules N  how many: 20000
  --seed N       of the first one, the next ones follow; with --schedules 1 the same run again, with its trace
  --processes N  at the same time; as many as there are processors
`;

const OPTIONS = {
  schedules: { count: [1, 2 ** 31 - 1], default: 20_000 },
  seed: { count: [0, 2 ** 31 - 1] },
  processes: { count: [1, 64] },
} as const;

export type Args = ArgsOf<typeof OPTIONS>;

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export const readArgs = (args: readonly string[]): Args | string => read(OPTIONS, args);
