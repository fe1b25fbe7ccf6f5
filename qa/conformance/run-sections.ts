import { openTestEnvironment, type Target } from "../../packages/conformance/src/environment/test-environment.ts";
import { loadSections } from "../../packages/conformance/src/run/load-sections.ts";
import { type Result, runSuite } from "../../packages/conformance/src/run/suite.ts";

export interface SectionOptions {
  readonly sections?: readonly string[];
  readonly only?: string | undefined;
}

/** Runs the suite, or some sections of it. Returns the result of each case. */
export async function runSections(
  target: Target,
  { sections: names, only = "" }: SectionOptions = {},
): Promise<readonly Result[]> {
  const sections = (await loadSections())
    .filter(({ name }) => names === undefined || names.includes(name))
    .map((section) => ({ ...section, cases: section.cases.filter(({ says }) => says.includes(only)) }))
    .filter(({ cases }) => cases.length > 0);
  if (sections.length === 0) throw new Error(`No section ${names?.join(", ")} has a case "${only}".`);
  const environment = await openTestEnvironment(target);
  try {
    const results = await runSuite(environment, sections);
    if (target.onStream && environment.streamed() < results.length)
      throw new Error(`Only ${environment.streamed()} requests were sent on the stream.`);
    return results;
  } finally {
    environment.close();
  }
}

/** How a case is written down among those that wait. */
export const titleOf = ({ section, says }: Result): string => `${section}: ${says}`;

/** A failed case in one piece of text, for the message of a test. */
export const failureOf = (result: Result): string =>
  [
    titleOf(result),
    `  expected ${result.failure?.expected}`,
    `  got ${result.failure?.got}`,
    `  at ${result.failure?.answer?.request.method} ${result.failure?.answer?.request.path}`,
  ].join("\n");
