import { isDeepStrictEqual } from "node:util";
import type { Answer } from "../protocol/answers.ts";
import { classOf } from "../protocol/codes.ts";
import { mismatch, type Pattern } from "./pattern.ts";
import { shown, Unmet } from "./unmet.ts";

export interface Assertions {
  /** Deeply equal; the order of keys does not count. */
  is(got: unknown, expected: unknown, what: string): void;
  fits(got: unknown, pattern: Pattern, what: string): void;
  /** A condition, with the expectation in words. */
  that(isSo: boolean, expected: string, got?: unknown): void;
  /** The answer has this status, and its body matches. Returns the answer. */
  answered(answer: Answer, status: number, body?: Pattern): Answer;
  /** The answer refuses with this code, and has the type and status of that code. */
  refused(answer: Answer, code: string, rest?: { status?: number; param?: Pattern; body?: Pattern }): Answer;
}

/** Counts every assertion: a case without one proves nothing. */
export function createAssertions(): { readonly expect: Assertions; count(): number } {
  let count = 0;
  const expect: Assertions = {
    is(got, expected, what) {
      count += 1;
      if (!isDeepStrictEqual(got, expected)) throw new Unmet(`${what}: ${shown(expected)}`, shown(got));
    },
    fits(got, pattern, what) {
      count += 1;
      const differs = mismatch(got, pattern);
      if (differs) throw new Unmet(`${join(what, differs.path)}: ${differs.expected}`, shown(differs.got));
    },
    that(isSo, expected, got) {
      count += 1;
      if (!isSo) throw new Unmet(expected, got === undefined ? "something else" : shown(got));
    },
    answered(answer, status, body) {
      count += 1;
      const { request, text } = answer;
      if (answer.status !== status)
        throw new Unmet(`${status}`, `${answer.status} ${request.method === "HEAD" ? "" : text.slice(0, 400)}`, answer);
      const differs = body === undefined ? undefined : mismatch(answer.body, body);
      if (differs) throw new Unmet(`${differs.path || "the body"}: ${differs.expected}`, shown(differs.got), answer);
      return answer;
    },
    refused(answer, code, { status, param, body } = {}) {
      count += 1;
      const class_ = classOf(code);
      const wanted = status ?? class_.status;
      const type = status === 400 ? "validation_error" : class_.type;
      if (answer.status !== wanted || answer.body.code !== code)
        throw new Unmet(`${wanted} ${code}`, `${answer.status} ${answer.text.slice(0, 400)}`, answer);
      const differs = mismatch(answer.body, { type, ...(param !== undefined && { param }), ...(body as object) });
      if (differs) throw new Unmet(`${differs.path}: ${differs.expected}`, shown(differs.got), answer);
      return answer;
    },
  };
  return { expect, count: () => count };
}

const join = (what: string, path: string): string => (path === "" ? what : `${what}: ${path}`);
