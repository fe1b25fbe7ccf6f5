import { NotApplicable, Unmet } from "../assertions/unmet.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { createKit } from "../kit/kit.ts";
import type { Case } from "../kit/section.ts";
import type { Answer } from "../protocol/answers.ts";
import type { NamedSection } from "./load-sections.ts";

export type Outcome = "passed" | "failed" | "not_applicable";

export interface Result {
  readonly section: string;
  readonly title: string;
  readonly says: string;
  readonly outcome: Outcome;
  readonly ms: number;
  /** Why the case does not apply. */
  readonly reason?: string;
  readonly failure?: Failure;
}

export interface Failure {
  readonly expected: string;
  readonly got: string;
  /** The request and answer that failed the expectation. */
  readonly answer?: Answer | undefined;
}

const CASE_MS = 90_000;

/**
 * Runs several sections at once, and the cases of a section in turn, unless it sets `together`. Sections that disturb
 * others come last, alone.
 */
export async function runSuite(
  environment: TestEnvironment,
  sections: readonly NamedSection[],
  { jobs = 4, heard = () => {} }: { readonly jobs?: number; readonly heard?: (result: Result) => void } = {},
): Promise<readonly Result[]> {
  const results = new Map<NamedSection, readonly Result[]>();
  const runAll = async (queue: NamedSection[]) => {
    for (let section = queue.shift(); section; section = queue.shift())
      results.set(section, await runSection(environment, section, heard));
  };
  const together = sections.filter(({ alone }) => !alone);
  // Sections that mostly wait start first, so that the others use the machine meanwhile.
  together.sort((a, b) => (b.together ?? 1) - (a.together ?? 1));
  await Promise.all(Array.from({ length: jobs }, () => runAll(together)));
  await runAll(sections.filter(({ alone }) => alone));
  return sections.flatMap((section) => results.get(section) ?? []);
}

async function runSection(
  environment: TestEnvironment,
  { name, title, cases, together = 1 }: NamedSection,
  heard: (result: Result) => void,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = [...cases.entries()];
  const runNext = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [at, one] = next;
      const begun = performance.now();
      const ended = await runCase(environment, one);
      const result = { section: name, title, says: one.says, ms: Math.round(performance.now() - begun), ...ended };
      results[at] = result;
      heard(result);
    }
  };
  await Promise.all(Array.from({ length: together }, runNext));
  return results;
}

async function runCase(
  environment: TestEnvironment,
  { check }: Case,
): Promise<Pick<Result, "outcome" | "reason" | "failure">> {
  const { kit, answers, expectations, finish } = createKit(environment);
  const timeout = startTimeout();
  try {
    await Promise.race([check(kit), timeout.over]);
    if (expectations() === 0)
      return { outcome: "failed", failure: { expected: "the case to have an assertion", got: "no expectation" } };
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
    timeout.cancel();
    await finish();
  }
}

function startTimeout(): { readonly over: Promise<never>; cancel(): void } {
  let timer: NodeJS.Timeout;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unmet(`an end within ${CASE_MS / 1_000} s`, "none")), CASE_MS);
  });
  over.catch(() => {});
  return { over, cancel: () => clearTimeout(timer) };
}
