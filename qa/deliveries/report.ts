import { type Line, report as written } from "../support/report.ts";
import type { Verdict } from "./judge/judge.ts";
import { type Coverage, VIOLATIONS, type ViolationKind } from "./judge/violations.ts";
import type { Findings } from "./run/run.ts";
import type { Finding } from "./scenarios/scenario.ts";

export const isSound = ({ verdict, differing, calmMs }: Findings): boolean =>
  verdict.violations.length + differing.length === 0 && calmMs !== undefined;

export const isMet = ({ verdict, unmet }: Finding): boolean => verdict.violations.length === 0 && unmet.length === 0;

const COVERAGE_LABELS: Readonly<Record<keyof Coverage, string>> = {
  requests: "requests",
  accepted: "  accepted",
  failed: "  failed, or unknown",
  tests: "  tests",
  events: "events in accepted requests",
  repeats: "accepted requests that came once more, with a reason",
  sameNames: "requests with a webhook-id that had come before, and its body",
  shrunk: "batches that were cut",
  exhausted: "positions with all eight attempts",
  waits: "waits held against the schedule from below",
  waitsAbove: "  and from above",
  neighbours: "requests that followed another one to the same endpoint",
  excusedOverlaps: "  that began while the sender of that one stood still",
  signatures: "signatures verified by standardwebhooks",
  doubleSignatures: "  with two secrets",
  afterRotation: "  after a secret had lost its force",
  unsubscribed: "positions passed over, not subscribed to",
};

/** The report of a run: faults, coverage and violations. */
export function report(findings: Findings): string {
  const { seed, seconds, operations, evidence, nemesis, ownerChanges, calmMs, verdict, differing } = findings;
  return table(
    [
      ["seed", seed],
      ["seconds", Math.round(seconds)],
      ["operations committed", operations],
      ["entries in the log", evidence.log.length],
      ["endpoints", evidence.endpoints.length],
      ...nemesis.lines(),
      ["senders killed by the receiver, and others", evidence.troubles.filter(isKill).length],
      ...ownerChanges.lines(),
      ["from the last fault until nothing waited, ms", calmMs?.toFixed() ?? "something still waits"],
      ...differing.map((one) => ["VIOLATION: rows are not their records", one] as const),
    ],
    verdict,
  );
}

const isKill = ({ what }: Findings["evidence"]["troubles"][number]) => what === "server killed";

/** The report of a scenario. */
export function reportFinding(title: string, { verdict, unmet, figures }: Finding): string {
  return `${title}\n${table(Object.entries(figures), verdict)}${unmet.map((one) => `NOT SO: ${one}\n`).join("")}\n`;
}

function table(lines: readonly Line[], { coverage, violations }: Verdict): string {
  const count = (kind: ViolationKind) => violations.filter((one) => one.kind === kind).length;
  const all = [
    ...lines,
    ...Object.entries(COVERAGE_LABELS).map(([key, label]) => [label, coverage[key as keyof Coverage]] as const),
    ...Object.entries(VIOLATIONS).map(([kind, label]) => [label, count(kind as ViolationKind)] as const),
    ["violations", violations.length] as const,
  ];
  return written(
    all,
    violations.map(({ kind, message }) => `${kind}: ${message}`),
  );
}
