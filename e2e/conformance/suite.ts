import type { Answer } from "./answers.ts";
import type { Case } from "./chapter.ts";
import { createKit } from "./kit.ts";
import type { NamedChapter } from "./load-chapters.ts";
import type { Slot } from "./place.ts";
import { NotApplicable, Unmet } from "./unmet.ts";

export type Outcome = "passed" | "failed" | "not_applicable";

export interface Result {
  readonly chapter: string;
  readonly title: string;
  readonly says: string;
  readonly outcome: Outcome;
  readonly ms: number;
  /** Why it does not apply. */
  readonly reason?: string;
  readonly failure?: Failure;
}

export interface Failure {
  readonly expected: string;
  readonly got: string;
  /** The exchange that it was about. */
  readonly answer?: Answer | undefined;
}

const CASE_MS = 90_000;

/**
 * Runs chapters side by side, and the cases of each one after the other, unless it says otherwise. Chapters that disturb
 * others come last, alone.
 */
export async function runSuite(
  place: Slot,
  chapters: readonly NamedChapter[],
  { jobs = 4, heard = () => {} }: { readonly jobs?: number; readonly heard?: (result: Result) => void } = {},
): Promise<readonly Result[]> {
  const results = new Map<NamedChapter, readonly Result[]>();
  const runAll = async (queue: NamedChapter[]) => {
    for (let chapter = queue.shift(); chapter; chapter = queue.shift())
      results.set(chapter, await runChapter(place, chapter, heard));
  };
  const together = chapters.filter(({ alone }) => !alone);
  // Those that mostly wait go first: the others have the machine meanwhile.
  together.sort((a, b) => (b.together ?? 1) - (a.together ?? 1));
  await Promise.all(Array.from({ length: jobs }, () => runAll(together)));
  await runAll(chapters.filter(({ alone }) => alone));
  return chapters.flatMap((chapter) => results.get(chapter) ?? []);
}

async function runChapter(
  place: Slot,
  { name, title, cases, together = 1 }: NamedChapter,
  heard: (result: Result) => void,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = [...cases.entries()];
  const runNext = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [at, one] = next;
      const begun = performance.now();
      const ended = await runCase(place, one);
      const result = { chapter: name, title, says: one.says, ms: Math.round(performance.now() - begun), ...ended };
      results[at] = result;
      heard(result);
    }
  };
  await Promise.all(Array.from({ length: together }, runNext));
  return results;
}

async function runCase(place: Slot, { check }: Case): Promise<Pick<Result, "outcome" | "reason" | "failure">> {
  const { kit, answers, expectations, finish } = createKit(place);
  const late = lateness();
  try {
    await Promise.race([check(kit), late.over]);
    if (expectations() === 0)
      return { outcome: "failed", failure: { expected: "the case to expect something", got: "no expectation" } };
    return { outcome: "passed" };
  } catch (error) {
    if (error instanceof NotApplicable) return { outcome: "not_applicable", reason: error.message };
    const failure =
      error instanceof Unmet
        ? { expected: error.expected, got: error.got, answer: error.about ?? answers.at(-1) }
        : {
            expected: "the case to run to its end",
            got: (error as Error).stack ?? String(error),
            answer: answers.at(-1),
          };
    return { outcome: "failed", failure };
  } finally {
    late.cancel();
    await finish();
  }
}

function lateness(): { readonly over: Promise<never>; cancel(): void } {
  let timer: NodeJS.Timeout;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unmet(`an end within ${CASE_MS / 1_000} s`, "none")), CASE_MS);
  });
  over.catch(() => {});
  return { over, cancel: () => clearTimeout(timer) };
}
