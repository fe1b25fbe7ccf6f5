import { groupBy } from "../support/group-by.ts";
import { type Line, report as written } from "../support/report.ts";
import { VIOLATIONS, type ViolationKind } from "./check.ts";
import type { Call } from "./history.ts";
import type { Lease } from "./leases.ts";
import { conflict, isUnknown } from "./leases.ts";
import type { Findings } from "./run.ts";

export const isSound = ({ verdict, audited, differing }: Findings): boolean =>
  verdict.violations.length + audited.violations.length + differing.length === 0;

/** The report of a run: faults, coverage and violations. */
export function report(findings: Findings): string {
  const { seed, history, verdict, audited, differing, nemesis, seconds } = findings;
  const { calls, participants } = history;
  const { coverage, leases, violations } = verdict;
  const count = (kind: ViolationKind) => violations.filter((one) => one.kind === kind).length;
  const lines: readonly Line[] = [
    ["seed", seed],
    ["seconds", Math.round(seconds)],
    ["claimants", participants.length],
    ["requests", calls.length],
    ["  without an answer", calls.filter(({ answer }) => answer === undefined).length],
    ["  with 503", calls.filter(({ answer }) => answer !== undefined && isUnknown(answer)).length],
    ...nemesis.lines(),
    ["claims", coverage.claims],
    ["  granted", coverage.granted],
    ["  granted after waiting", leases.filter(({ joined, grantedBy }) => joined && grantedBy !== undefined).length],
    ["pairs that exclude each other", coverage.pairs],
    ["  of whom one waited before the other asked", coverage.waiters],
    ["writes answered", coverage.writes],
    ["  of holders, while they held for certain", coverage.byHolders],
    ["  with a claim that was over, or another's", coverage.lapsed],
    ["log entries", audited.entries],
    ["  written while the record was claimed", coverage.underClaim],
    ["acknowledged and lost", audited.lost],
    ["written twice", audited.duplicated],
    ["from a release to the next grant, ms", spread(handOvers(calls, leases))],
    ["from the end of a lease to the next grant, ms", spread(lateness(calls, leases))],
    ...Object.entries(VIOLATIONS).map(([kind, says]) => [says, count(kind as ViolationKind)] as const),
    ["violations", violations.length + audited.violations.length + differing.length],
  ];
  return written(lines, [
    ...violations.map(({ kind, message: says }) => `${kind}: ${says}`),
    ...audited.violations,
    ...differing,
  ]);
}

/** From a release to the grant of the next waiter. */
function handOvers(calls: readonly Call[], leases: readonly Lease[]): number[] {
  const byId = new Map(leases.map((lease) => [lease.id, lease]));
  const nextOf = successors(leases);
  return calls.flatMap(({ what, asked, answer }) => {
    const released = what.op === "release" && answer?.status === 200 ? byId.get(what.claim) : undefined;
    return released ? nextOf(released, asked.wall) : [];
  });
}

/** The same for leases that expired. */
function lateness(calls: readonly Call[], leases: readonly Lease[]): number[] {
  const released = new Set(calls.flatMap(({ what }) => (what.op === "release" ? [what.claim] : [])));
  const nextOf = successors(leases);
  return leases.flatMap((lease) => {
    const end = lease.ranges.at(-1)?.until;
    return end === undefined || released.has(lease.id) || end !== lease.overFrom ? [] : nextOf(lease, end);
  });
}

/** How long after a time the next of those that a lease excludes was granted, if it waited then. */
function successors(leases: readonly Lease[]): (before: Lease, at: number) => number[] {
  const granted = leases.filter(({ fence }) => fence !== undefined);
  const byRecord = groupBy(
    granted.sort((a, b) => (a.fence as number) - (b.fence as number)),
    ({ record }) => record,
  );
  return ({ record, field, fence = Number.NaN }, at) => {
    const next = byRecord.get(record)?.find((lease) => (lease.fence as number) > fence && conflict(lease.field, field));
    // A claim that was not queued yet, or was granted earlier, did not wait for this end.
    if (!next?.joined || next.grantedBy === undefined || next.joined.wall >= at || next.grantedFrom < at) return [];
    return [next.grantedBy - at];
  };
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? "none";
  return `p50 ${at(0.5)}, p99 ${at(0.99)} (of ${sorted.length})`;
}
