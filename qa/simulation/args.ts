export interface Args {
  readonly schedules: number;
  readonly seed: number | undefined;
  readonly processes: number | undefined;
}

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

/** The program's words, or what is wrong with them; "" when help was asked for. */
export function readArgs(args: readonly string[]): Args | string {
  const known: Record<string, number | undefined> = {
    "--schedules": 20_000,
    "--seed": undefined,
    "--processes": undefined,
  };
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === "--help") return "";
    if (!Object.hasOwn(known, word)) return `"${word}" is not an option.`;
    const text = args[++i] ?? "";
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    const least = word === "--seed" ? 0 : 1;
    const most = word === "--processes" ? 64 : 2 ** 31 - 1;
    if (!(value >= least && value <= most)) return `${word} takes a whole number from ${least} to ${most}.`;
    known[word] = value;
  }
  const { "--schedules": schedules = 20_000, "--seed": seed, "--processes": processes } = known;
  return { schedules, seed, processes };
}
