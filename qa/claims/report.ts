import { type Found, judged } from "../support/report.ts";
import { VIOLATIONS } from "./check.ts";
import { isUnknown } from "./leases.ts";
import type { Findings } from "./run.ts";

/** What a run found: faults, coverage and violations. */
export function report({ seed, history, verdict, audited, differing, nemesis, seconds }: Findings): Found {
  const { calls, participants } = history;
  const { coverage, leases, violations } = verdict;
  const found = judged(VIOLATIONS, coverage, violations);
  return {
    lines: [
      ["seed", seed],
      ["seconds", Math.round(seconds)],
      ["claimants", participants.length],
      ["requests", calls.length],
      ["  without an answer", calls.filter(({ answer }) => answer === undefined).length],
      ["  with 503", calls.filter(({ answer }) => answer !== undefined && isUnknown(answer)).length],
      ...nemesis.lines(),
      ["granted after waiting", leases.filter(({ joined, grantedBy }) => joined && grantedBy !== undefined).length],
      ["log entries", audited.entries],
      ["acknowledged and lost", audited.lost],
      ["written twice", audited.duplicated],
      ...found.lines,
    ],
    violations: [...found.violations, ...audited.violations, ...differing],
    seen: { seed, violations, audited: audited.violations, ...history },
  };
}
