import { type ArgOption, type ArgsOf, readArgs } from "./read-args.ts";

export type Options = Readonly<Record<string, ArgOption>>;

export interface Program<Table extends Options> {
  /** As in `npm run <name>`, with the word that chooses it among several. */
  readonly name: string;
  /** What it does, in lines. */
  readonly says: string;
  readonly options: Table;
  /** Whether it found nothing wrong. What is large is imported only here, so that `--help` answers at once. */
  run(args: ArgsOf<Table>, print: (line: string) => void): Promise<boolean>;
}

/** Reads the arguments of this process, and runs the program with them. */
export async function runProgram<const Table extends Options>(
  program: Program<Table>,
  words: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const { name, options } = program;
  const args = readArgs(options, words);
  if (typeof args === "string") {
    process.stdout.write(args === "" ? usageOf(program) : `${args}\n\n${usageOf(program)}`);
    process.exitCode = args === "" ? 0 : 1;
    return;
  }
  const isFine = await program.run(args, (line) => void process.stderr.write(`${name.split(" ").at(-1)}: ${line}\n`));
  process.exitCode = isFine ? 0 : 1;
}

export function usageOf({ name, says, options }: Pick<Program<Options>, "name" | "says" | "options">): string {
  const words = Object.entries(options).map(([option, { says, ...kind }]) => ({
    word: `--${option}${"flag" in kind ? "" : "someOf" in kind ? " NAMES" : " N"}`,
    says: "default" in kind && kind.default !== undefined ? `${says}: ${kind.default}` : says,
  }));
  const width = Math.max(...words.map(({ word }) => word.length));
  const [command, chosen] = name.split(" ");
  const usage = [...(chosen ? [chosen] : []), ...words.map(({ word }) => `[${word}]`)].join(" ");
  return `Usage: npm run ${command} ${chosen ? `-- ${usage}` : `[-- ${usage}]`}

${says}

${words.map(({ word, says }) => `  ${word.padEnd(width)}  ${says}\n`).join("")}`;
}

/** For programs that repeat the same choices with a seed. */
export const anySeed = (): number => Math.floor(Math.random() * 2 ** 31);
