export interface Args {
  readonly claimants: number;
  readonly operations: number;
  readonly records: number;
  readonly minutes: number;
  readonly seed: number | undefined;
}

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

const LIMITS: Readonly<Record<string, readonly [usual: number | undefined, least: number, most: number]>> = {
  "--claimants": [60, 2, 500],
  "--operations": [20_000, 1, 10_000_000],
  "--records": [12, 2, 100],
  "--minutes": [15, 1, 600],
  "--seed": [undefined, 0, 2 ** 31 - 1],
};

/** The program's words, or what is wrong with them; "" when help was asked for. */
export function readArgs(args: readonly string[]): Args | string {
  const values = new Map(Object.entries(LIMITS).map(([word, [usual]]) => [word, usual]));
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === "--help") return "";
    const limit = Object.hasOwn(LIMITS, word) ? LIMITS[word] : undefined;
    if (!limit) return `"${word}" is not an option.`;
    const [, least, most] = limit;
    const text = args[++i] ?? "";
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) return `${word} takes a whole number from ${least} to ${most}.`;
    values.set(word, value);
  }
  const number = (word: string) => values.get(word) as number;
  return {
    claimants: number("--claimants"),
    operations: number("--operations"),
    records: number("--records"),
    minutes: number("--minutes"),
    seed: values.get("--seed"),
  };
}
