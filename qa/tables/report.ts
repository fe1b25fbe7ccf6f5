import { type Line, report as written } from "../support/report.ts";
import { VIOLATIONS, type ViolationKind } from "./check.ts";
import type { Figures } from "./large-coverage.ts";
import type { Findings } from "./run.ts";

/** Of each kind. */
const SHOWN = 5;

/** The report of a run: faults, coverage and violations. */
export function report({ seed, seconds, verdict, totals, nemesis }: Findings): string {
  const { coverage, audited, violations } = verdict;
  const { large } = coverage;
  const kinds = Object.entries(VIOLATIONS) as [ViolationKind, string][];
  const lines: readonly Line[] = [
    ["seed", seed],
    ["seconds", Math.round(seconds)],
    ...nemesis.lines(),
    ["commits acknowledged", totals.acknowledged],
    ["  refused by the tables", coverage.declined],
    ["  without an answer, asked again", totals.unknown],
    ["transactions in SQL that changed rows", coverage.transactions],
    ["large rows by SQL, written and verified", pair(large.rows)],
    ["large rows by clients", pair(large.byClients)],
    ["unreadable rows", pair(large.unreadable)],
    ["large transactions in SQL", pair(large.transactions)],
    ["rows at the end", coverage.rows],
    ["rows that both sides have changed", coverage.contested],
    ["log entries", audited.entries],
    ["  that cascades and triggers added to commits", coverage.besides],
    ["followers × entries heard", `${audited.followers} × ${audited.entries}`],
    ["violations", violations.length],
    ...kinds.flatMap(([kind, says]) => {
      const n = violations.filter((one) => one.kind === kind).length;
      return n === 0 ? [] : [[`  ${kind}: ${says}`, n] as const];
    }),
  ];
  const shown = kinds.flatMap(([of]) =>
    violations
      .filter(({ kind }) => kind === of)
      .slice(0, SHOWN)
      .map(({ kind, text }) => `${kind}: ${text}`),
  );
  return written(lines, shown, shown.length);
}

const pair = ({ written, verified }: Figures): string => `${written}, ${verified}`;
