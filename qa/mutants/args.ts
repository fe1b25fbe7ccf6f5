import { type ArgsOf, readArgs as read } from "../support/read-args.ts";
import { suites } from "./suites.ts";

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

/** The program's arguments, or what is wrong with them; "" if help was asked for. */
export function readArgs(args: readonly string[]): Args | string {
  const found = read(OPTIONS, args);
  if (typeof found === "string") return found;
  const { suite: suites, ...rest } = found;
  return { suites, ...rest };
}
