import type { Answer } from "../protocol/answers.ts";
import type { Outcome, Result } from "./suite.ts";

const MOST = 2_000;

export interface Report {
  readonly object: "conformance_report";
  readonly url: string;
  readonly startedAt: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  readonly sections: readonly {
    readonly name: string;
    readonly title: string;
    readonly cases: readonly CaseReport[];
  }[];
}

interface CaseReport {
  readonly says: string;
  readonly outcome: Outcome;
  readonly ms: number;
  readonly reason?: string | undefined;
  readonly expected?: string | undefined;
  readonly got?: string | undefined;
  readonly request?:
    | { readonly line: string; readonly headers: object; readonly body?: string | undefined }
    | undefined;
  readonly answer?: { readonly status: number; readonly headers: object; readonly body: string } | undefined;
}

/** The results as data. Tokens are shortened, and long bodies are cut. */
export function reportOf(
  results: readonly Result[],
  about: Pick<Report, "url" | "startedAt" | "seconds">,
  secrets: readonly string[],
): Report {
  const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length;
  const names = [...new Set(results.map(({ section }) => section))];
  const report: Report = {
    object: "conformance_report",
    ...about,
    passed: count("passed"),
    failed: count("failed"),
    notApplicable: count("not_applicable"),
    sections: names.map((name) => {
      const own = results.filter(({ section }) => section === name);
      return { name, title: own[0]?.title ?? name, cases: own.map(caseReport) };
    }),
  };
  return JSON.parse(hide(JSON.stringify(report), secrets)) as Report;
}

function caseReport({ says, outcome, ms, reason, failure }: Result): CaseReport {
  const { answer } = failure ?? {};
  return {
    says,
    outcome,
    ms,
    reason,
    expected: failure?.expected,
    got: failure?.got,
    request: answer && requestReport(answer),
    answer: answer && { status: answer.status, headers: answer.headers, body: cut(answer.text) },
  };
}

const requestReport = ({ request: { method, path, headers, body } }: Answer) => ({
  line: `${method} ${cut(path)}`,
  headers: Object.fromEntries(Object.entries(headers).slice(0, 20)),
  body: body === undefined ? undefined : cut(body),
});

const cut = (text: string): string =>
  text.length > MOST ? `${text.slice(0, MOST)}… (${text.length} characters)` : text;

/** Shortens every token to its prefix and its last four characters, and a signing secret to its prefix. */
const hide = (text: string, secrets: readonly string[]): string =>
  secrets
    .reduce((all, secret) => all.replaceAll(secret, `${secret.slice(0, 3)}…`), text)
    .replace(/\b(sk_live_|sk_test_|rk_|ek_)[0-9A-Za-z]{28,32}([0-9A-Za-z]{4})\b/g, "$1…$2")
    .replace(/whsec_[0-9A-Za-z+/]{16,}={0,2}/g, "whsec_…");

const MARKS: Readonly<Record<Outcome, string>> = { passed: "✓", failed: "✗", not_applicable: "–" };

/** The report as text. */
export function reportText({ sections, url, seconds, passed, failed, notApplicable }: Report): string {
  const lines = sections.flatMap(({ title, name, cases }) => ["", `${title} (${name})`, ...cases.flatMap(caseLines)]);
  const sum = `${passed} passed, ${failed} failed, ${notApplicable} not applicable, ${seconds.toFixed(1)} s, ${url}`;
  return `${[...lines, "", sum].join("\n")}\n`;
}

function caseLines({ says, outcome, reason, expected, got, request, answer }: CaseReport): readonly string[] {
  const lines = [`  ${MARKS[outcome]} ${says}${reason === undefined ? "" : ` [not applicable: ${reason}]`}`];
  if (outcome !== "failed") return lines;
  lines.push(`      expected  ${expected}`, `      got       ${got}`);
  if (request) {
    lines.push(`      request   ${request.line}`);
    for (const [name, value] of Object.entries(request.headers)) lines.push(`                ${name}: ${value}`);
    if (request.body !== undefined) lines.push(`                ${request.body}`);
  }
  if (answer) {
    const id = (answer.headers as Record<string, unknown>)["x-request-id"];
    lines.push(`      answer    ${answer.status} (${id}) ${answer.body}`);
  }
  return lines;
}
