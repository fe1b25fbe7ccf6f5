import { loadChapters } from "../load-chapters.ts";
import { openPlace, type Target } from "../place.ts";
import { type Result, runSuite } from "../suite.ts";

export interface Asked {
  readonly chapters?: readonly string[];
  readonly only?: string | undefined;
}

/** Runs the suite, or some chapters of it, and answers with what came of each case. */
export async function runChapters(
  target: Target,
  { chapters: names, only = "" }: Asked = {},
): Promise<readonly Result[]> {
  const chapters = (await loadChapters())
    .filter(({ name }) => names === undefined || names.includes(name))
    .map((chapter) => ({ ...chapter, cases: chapter.cases.filter(({ says }) => says.includes(only)) }))
    .filter(({ cases }) => cases.length > 0);
  if (chapters.length === 0) throw new Error(`No chapter ${names?.join(", ")} has a case "${only}".`);
  const place = await openPlace(target);
  try {
    return await runSuite(place, chapters);
  } finally {
    place.close();
  }
}

/** How a case is written down among those that wait. */
export const titleOf = ({ chapter, says }: Result): string => `${chapter}: ${says}`;

/** A failed case in one piece of text, for the message of a test. */
export const failureOf = (result: Result): string =>
  [
    titleOf(result),
    `  expected ${result.failure?.expected}`,
    `  got ${result.failure?.got}`,
    `  at ${result.failure?.answer?.request.method} ${result.failure?.answer?.request.path}`,
  ].join("\n");
