import { suites } from "./suites.ts";

export interface Args {
  readonly suites: readonly string[];
  readonly only: string;
  readonly seed: number;
  readonly jobs: number | undefined;
  readonly list: boolean;
}

const NAMES = suites.map(({ name }) => name);

export const USAGE = `Usage: npm run planted [-- --suite <name>] [--only <words>] [--seed N] [--jobs N] [--list]

Plants bugs into copies of the sources, one at a time, and asks each suite whether it finds those that it is there for:
the conformance suite, two processes on one database, the checker of claims, the judge of deliveries, the simulation of the client. Where nothing is
planted nothing may be found. One line for each, as soon as it is known: how long it took, and what found it. Ends with 1
when one was not found, or something was where nothing is wrong. A patch that no longer fits the sources ends it too.

  --suite <name>  only this one: ${NAMES.join(", ")}; may be repeated
  --only <words>  only bugs whose name has these words
  --seed N        where chance begins: 1
  --jobs N        so many at the same time, instead of as many as suits each suite
  --list          prints the names, and plants nothing; those with a star are also looked for by \`npm test\`
  --help          this
`;

/** The program's words, or what is wrong with them; "" when help was asked for. */
export function readArgs(args: readonly string[]): Args | string {
  const chosen: string[] = [];
  let [only, seed, jobs, list]: [string, number, number | undefined, boolean] = ["", 1, undefined, false];
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === "--help") return "";
    if (word === "--list") {
      list = true;
      continue;
    }
    if (!["--suite", "--only", "--seed", "--jobs"].includes(word)) return `"${word}" is not an option.`;
    const value = args[++i] ?? "";
    if (value === "") return `${word} takes a value.`;
    if (word === "--only") only = value;
    else if (word === "--suite") {
      if (!NAMES.includes(value)) return `There is no suite "${value}": ${NAMES.join(", ")}.`;
      chosen.push(value);
    } else {
      const [least, most] = word === "--seed" ? [0, 2 ** 31 - 1] : [1, 64];
      const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
      if (!(number >= least && number <= most)) return `${word} takes a whole number from ${least} to ${most}.`;
      if (word === "--seed") seed = number;
      else jobs = number;
    }
  }
  return { suites: chosen.length > 0 ? chosen : NAMES, only, seed, jobs, list };
}
