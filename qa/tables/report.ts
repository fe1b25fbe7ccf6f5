import { type Found, judged } from "../support/report.ts";
import { VIOLATIONS } from "./check.ts";
import type { Figures } from "./large-coverage.ts";
import type { Findings } from "./run.ts";

/** What a run found: faults, coverage and violations. */
export function report({ seed, seconds, verdict, totals, nemesis }: Findings): Found {
  const { audited, violations } = verdict;
  const { large, ...coverage } = verdict.coverage;
  const found = judged(VIOLATIONS, coverage, violations);
  return {
    lines: [
      ["seed", seed],
      ["seconds", Math.round(seconds)],
      ...nemesis.lines(),
      ["commits acknowledged", totals.acknowledged],
      ["  without an answer, asked again", totals.unknown],
      ["large rows by SQL, written and verified", pair(large.rows)],
      ["large rows by clients", pair(large.byClients)],
      ["unreadable rows", pair(large.unreadable)],
      ["large transactions in SQL", pair(large.transactions)],
      ["log entries", audited.entries],
      ["followers × entries heard", `${audited.followers} × ${audited.entries}`],
      ...found.lines,
    ],
    violations: found.violations,
  };
}

const pair = ({ written, verified }: Figures): string => `${written}, ${verified}`;
