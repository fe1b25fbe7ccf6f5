export interface Args {
  readonly requests: number;
  readonly seed: number | undefined;
  readonly connections: number;
}

export const USAGE = `Usage: npm run fuzz [-- --requests N] [--seed N] [--connections N]

Runs a server of its own on an embedded Postgres in a temporary directory, and fires requests and frames at it that
are made from its own tables: right ones, and ones that are wrong in one to three places. Every answer is held against
what is described and promised. Ends with 1 if one is not, with the request as small as it could be made.

  --requests N     how many requests: 50000
  --seed N         makes the same requests again; over one connection they also meet in the same order
  --connections N  requests on their way at the same time: 16
`;

/** The program's words, or what is wrong with them; "" when help was asked for. */
export function readArgs(args: readonly string[]): Args | string {
  const known: Record<string, number | undefined> = { "--requests": 50_000, "--seed": undefined, "--connections": 16 };
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === "--help") return "";
    if (!Object.hasOwn(known, word)) return `"${word}" is not an option.`;
    const text = args[++i] ?? "";
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    const least = word === "--seed" ? 0 : 1;
    const most = word === "--connections" ? 256 : 2 ** 31 - 1;
    if (!(value >= least && value <= most)) return `${word} takes a whole number from ${least} to ${most}.`;
    known[word] = value;
  }
  return {
    requests: known["--requests"] as number,
    seed: known["--seed"],
    connections: known["--connections"] as number,
  };
}
