import { availableParallelism } from "node:os";
import { startEmbeddedPostgres } from "@holdfast/server";
import { type OpenPlace, openPlace } from "./place.ts";
import { isAsItShouldBe, type Planted, type Suite } from "./suite.ts";
import { suites } from "./suites.ts";
import { readWords, USAGE, type Words } from "./words.ts";

/** The words → the bugs that they ask for → each looked for → one line for each, and the sum. */
async function run(words: Words): Promise<number> {
  const chosen = suites
    .filter(({ name }) => words.suites.includes(name))
    .map((suite) => ({ ...suite, planted: suite.planted.filter(({ name }) => name.includes(words.only)) }));
  if (chosen.every(({ planted }) => planted.length === 0)) {
    say(`no bug has the words "${words.only}"`);
    return 1;
  }
  if (words.list) return list(chosen);
  const postgres = await startEmbeddedPostgres({ throwaway: true });
  const place = openPlace(postgres.url, { seed: words.seed, processes: availableParallelism() });
  const sums = { done: 0, wrong: 0, all: chosen.reduce((sum, { planted }) => sum + planted.length, 0) };
  try {
    for (const suite of chosen) await search(suite, place, words.jobs ?? suite.atOnce, sums);
  } finally {
    await place.close();
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

async function search({ name, planted }: Suite, place: OpenPlace, jobs: number, sums: Sums): Promise<void> {
  const queue = [...planted];
  const searchNext = async () => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      const begun = performance.now();
      const { isRight, says } = await outcomeOf(one, place);
      sums.done += 1;
      if (!isRight) sums.wrong += 1;
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1).padStart(6);
      process.stdout.write(`${isRight ? "  " : "✗ "}${seconds} s  ${name}: ${one.name}: ${says}\n`);
      say(`${sums.done}/${sums.all}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, searchNext));
}

async function outcomeOf(one: Planted, place: OpenPlace): Promise<{ isRight: boolean; says: string }> {
  try {
    const found = await one.find(place);
    const isRight = isAsItShouldBe(one, found);
    // What should not be there is told in full, the rest in its first line.
    if (found !== undefined) return { isRight, says: isRight ? `found: ${found.split("\n", 1)[0]}` : found };
    return { isRight, says: isRight ? "nothing found" : "NOT FOUND" };
  } catch (error) {
    // Nobody could look, for example since the patch does not fit any more: that is as bad as not found.
    return { isRight: false, says: error instanceof Error ? error.message : String(error) };
  }
}

function list(chosen: readonly Suite[]): number {
  for (const { name, planted } of chosen)
    process.stdout.write(`${name}\n${planted.map((one) => `  ${one.isQuick ? "*" : " "} ${one.name}\n`).join("")}\n`);
  return 0;
}

const say = (line: string): void => void process.stderr.write(`planted: ${line}\n`);

const words = readWords(process.argv.slice(2));
if (typeof words === "string") {
  process.stdout.write(words === "" ? USAGE : `${words}\n\n${USAGE}`);
  process.exitCode = words === "" ? 0 : 1;
} else process.exitCode = await run(words);
