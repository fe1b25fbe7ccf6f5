import { type ArgsOf, readArgs as read } from "../support/read-args.ts";
import { suites } from "./suites.ts";

const NAMES = suites.map(({ name }) => name);

export const USAGE = `Usage: npm run planted [-- --suite <name>] [--only <words>] [--seed N] [--jobs N] [--list]

Inserts bugs into copies of the sources, one at a time, and checks that the responsible suite finds each: the conformance
suite, two processes on one database, the checkers of claims, of deliveries and of attached tables, or the simulation of the client.
Without a bug, no suite may find anything. Prints one line per bug: how long it took, and what found it. Exits with 1 if
a bug was not found, if a suite failed without a bug, or if a patch no longer fits the sources.

  --suite <name>  only this one: ${NAMES.join(", ")}; may be repeated
  --only <words>  only bugs whose name contains these words
  --seed N        seed of the random choices: 1
  --jobs N        how many at the same time (default: depends on the suite)
  --list          prints the names, without testing; bugs with a star are also part of \`npm test\`
  --help          prints this text
`;

const OPTIONS = {
  suite: { someOf: NAMES },
  only: { text: true, default: "" },
  seed: { count: [0, 2 ** 31 - 1], default: 1 },
  jobs: { count: [1, 64] },
  list: { flag: true },
} as const;

export interface Args extends Omit<ArgsOf<typeof OPTIONS>, "suite"> {
  readonly suites: readonly string[];
}

/** The program's arguments, or an error message; "" if help was requested. */
export function readArgs(args: readonly string[]): Args | string {
  const found = read(OPTIONS, args);
  if (typeof found === "string") return found;
  const { suite: suites, ...rest } = found;
  return { suites, ...rest };
}
