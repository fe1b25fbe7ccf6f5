import { groupBy } from "../support/group-by.ts";
import { type Found, judged } from "../support/report.ts";
import { VIOLATIONS } from "./check.ts";
import type { Call } from "./history.ts";
import type { Lease } from "./leases.ts";
import { conflict, isUnknown } from "./leases.ts";
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
      ["from a release to the next grant, ms", spread(handOvers(calls, leases))],
      ["from the end of a lease to the next grant, ms", spread(lateness(calls, leases))],
      ...found.lines,
    ],
    violations: [...found.violations, ...audited.violations, ...differing],
    seen: { seed, violations, audited: audited.violations, ...history },
  };
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
