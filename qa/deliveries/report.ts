import { type Found, judged } from "../support/report.ts";
import { VIOLATIONS } from "./judge/violations.ts";
import type { Findings } from "./run/run.ts";
import type { Finding } from "./scenarios/scenario.ts";

/** What a random run found: faults, coverage and violations. */
export function report(findings: Findings): Found {
  const { seed, seconds, operations, evidence, nemesis, ownerChanges, calmMs, verdict, differing } = findings;
  const { lines, violations } = judged(VIOLATIONS, verdict.coverage, verdict.violations);
  return {
    lines: [
      ["seed", seed],
      ["seconds", Math.round(seconds)],
      ["operations committed", operations],
      ["entries in the log", evidence.log.length],
      ["endpoints", evidence.endpoints.length],
      ...nemesis.lines(),
      [
        "senders killed by the receiver, and others",
        evidence.troubles.filter(({ what }) => what === "server killed").length,
      ],
      ...ownerChanges.lines(),
      ["from the last fault until nothing waited, ms", calmMs?.toFixed() ?? "something still waits"],
      ...lines,
    ],
    violations: [...violations, ...differing, ...(calmMs === undefined ? ["something still waits"] : [])],
    seen: { seed, violations: verdict.violations, ...evidence },
  };
}

/** What a scenario found. */
export function reportScenario(title: string, { verdict, unmet, figures }: Finding): Found {
  const { lines, violations } = judged(VIOLATIONS, verdict.coverage, verdict.violations);
  return { above: title, lines: [...Object.entries(figures), ...lines], violations: [...violations, ...unmet] };
}
