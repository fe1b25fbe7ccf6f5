import { availableParallelism } from "node:os";
import { startEmbeddedPostgres } from "@holdfast/server";
import { type Args, readArgs, USAGE } from "./args.ts";
import { isAsItShouldBe, type MutantCheck, type Suite } from "./suite.ts";
import { suites } from "./suites.ts";
import { type OpenTestEnvironment, openTestEnvironment } from "./test-environment.ts";

/** Parses the arguments, runs the chosen mutants, and prints one line for each and the totals. */
async function run(args: Args): Promise<number> {
  const chosen = suites
    .filter(({ name }) => args.suites.includes(name))
    .map((suite) => ({ ...suite, planted: suite.planted.filter(({ name }) => name.includes(args.only)) }));
  if (chosen.every(({ planted }) => planted.length === 0)) {
    print(`no bug has the words "${args.only}"`);
    return 1;
  }
  if (args.list) return list(chosen);
  const postgres = await startEmbeddedPostgres({ throwaway: true });
  const environment = openTestEnvironment(postgres.url, { seed: args.seed, processes: availableParallelism() });
  const all = chosen.reduce((sum, { planted }) => sum + planted.length, 0);
  print(`${all} bugs, each in a copy of the sources of its own …`);
  const sums = { done: 0, wrong: 0, all };
  try {
    for (const suite of chosen) await search(suite, environment, args.jobs ?? suite.atOnce, sums);
  } finally {
    await environment.close();
    await postgres.stop();
  }
  process.stdout.write(`${sums.all - sums.wrong} of ${sums.all} as they should be\n`);
  return sums.wrong > 0 ? 1 : 0;
}

interface Sums {
  done: number;
  wrong: number;
  readonly all: number;
}

async function search(
  { name, planted }: Suite,
  environment: OpenTestEnvironment,
  jobs: number,
  sums: Sums,
): Promise<void> {
  const queue = [...planted];
  const searchNext = async () => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      const begun = performance.now();
      const { isRight, says } = await outcomeOf(one, environment);
      sums.done += 1;
      if (!isRight) sums.wrong += 1;
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1).padStart(6);
      process.stdout.write(`${isRight ? "  " : "✗ "}${seconds} s  ${name}: ${one.name}: ${says}\n`);
      print(`${sums.done}/${sums.all}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, searchNext));
}

async function outcomeOf(
  one: MutantCheck,
  environment: OpenTestEnvironment,
): Promise<{ isRight: boolean; says: string }> {
  try {
    const found = await one.find(environment);
    const isRight = isAsItShouldBe(one, found);
    // Print unexpected results in full, and only the first line of others.
    if (found !== undefined) return { isRight, says: isRight ? `found: ${found.split("\n", 1)[0]}` : found };
    return { isRight, says: isRight ? "nothing found" : "NOT FOUND" };
  } catch (error) {
    // The suite could not run, for example because the patch no longer fits: that counts as not found.
    return { isRight: false, says: error instanceof Error ? error.message : String(error) };
  }
}

function list(chosen: readonly Suite[]): number {
  for (const { name, planted } of chosen)
    process.stdout.write(`${name}\n${planted.map((one) => `  ${one.isQuick ? "*" : " "} ${one.name}\n`).join("")}\n`);
  return 0;
}

const print = (line: string): void => void process.stderr.write(`planted: ${line}\n`);

const args = readArgs(process.argv.slice(2));
if (typeof args === "string") {
  process.stdout.write(args === "" ? USAGE : `${args}\n\n${USAGE}`);
  process.exitCode = args === "" ? 0 : 1;
} else process.exitCode = await run(args);
