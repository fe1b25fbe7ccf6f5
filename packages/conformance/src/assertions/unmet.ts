import type { Answer } from "../protocol/answers.ts";

/** An expectation that was not met: a case throws it, and the report shows it. */
export class Unmet extends Error {
  readonly expected: string;
  readonly got: string;
  /** The answer that failed the expectation; absent: the last one of the case. */
  readonly about: Answer | undefined;

  constructor(expected: string, got: string, about?: Answer) {
    super(`expected ${expected}, got ${got}`);
    this.expected = expected;
    this.got = got;
    this.about = about;
  }
}

/** The case cannot run here; the message says why. */
export class NotApplicable extends Error {}

/** A value in a report: JSON, cut if it is long. */
export function shown(value: unknown, most = 600): string {
  const text =
    value === undefined ? "nothing" : (JSON.stringify(value instanceof Set ? [...value] : value) ?? String(value));
  return text.length > most ? `${text.slice(0, most)}… (${text.length} characters)` : text;
}
