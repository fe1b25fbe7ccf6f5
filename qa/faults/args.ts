export interface Args {
  readonly kills: number;
  readonly writers: number;
  readonly plant: boolean;
}

export const USAGE = `Usage: npm run faults [-- --kills N] [--writers N] [--plant]

Runs a server of its own in a temporary directory, lets writers write, kills the server and its Postgres
again and again, and then checks that every acknowledged write is there, once. Ends with 1 if one is not.

  --kills N     how often each of the two is killed: 20
  --writers N   how many write at the same time: 16
  --plant       takes one acknowledged write out of the log before the check, to show that it is noticed
`;

/** The program's words, or what is wrong with them; "" when help was asked for. */
export function readArgs(args: readonly string[]): Args | string {
  let kills = 20;
  let writers = 16;
  let plant = false;
  for (let i = 0; i < args.length; i++) {
    const word = args[i];
    if (word === "--help") return "";
    if (word === "--plant") plant = true;
    else if (word === "--kills" || word === "--writers") {
      const count = Number(args[++i]);
      if (!Number.isInteger(count) || count < 1 || count > 10_000) return `${word} takes a whole number from 1.`;
      if (word === "--kills") kills = count;
      else writers = count;
    } else return `"${word}" is not an option.`;
  }
  return { kills, writers, plant };
}
