import { groupBy } from "../support/group-by.ts";
import type { Violation } from "../support/report.ts";
import type { Call, Entry, History, ShownClaim } from "./history.ts";
import { conflict, isUnknown, type Lease, leasesOf, ROUNDING_MS, type TimeRange } from "./leases.ts";

export const VIOLATIONS = {
  overlap: "two held what excludes each other at the same time",
  fence: "a fence did not grow with the grant",
  inversion: "a later one was granted before an earlier one that lived",
  lapsed: "a write was accepted that named a claim which was over, or another's",
  trespass: "a write was accepted while another participant held what it wrote",
  unsaid: "a write with a lapsed claim was not told so",
  refused: "a holder's write was refused",
  stranger: "a participant renewed or released another's claim",
  odd: "an answer that nothing explains",
} as const;
export type ViolationKind = keyof typeof VIOLATIONS;

/** How often each check applied. A checker with nothing to check finds nothing. */
const coverageOf = (leases: readonly Lease[]) => ({
  claims: leases.length,
  granted: leases.filter(({ grantedBy }) => grantedBy !== undefined).length,
  /** Pairs of claims that exclude each other, on the same record. */
  pairs: 0,
  /** Pairs whose earlier claim waited when the later one was granted, or before. */
  waiters: 0,
  writes: 0,
  /** Writes while a participant held the record. */
  underClaim: 0,
  /** Writes that named a claim which was over for certain. */
  lapsed: 0,
  /** Writes of holders while they held for certain. */
  byHolders: 0,
});
export type Coverage = ReturnType<typeof coverageOf>;

export interface Verdict {
  readonly violations: readonly Violation<ViolationKind>[];
  readonly coverage: Coverage;
  readonly leases: readonly Lease[];
}

const never = Number.POSITIVE_INFINITY;

/** How long a waiter lives after a sign of life; a little less than the server grants. */
const ALIVE_MS = 28_000;

/** Checks a history against the rules of claims. A request with an unknown outcome is no violation. */
export function check(history: History): Verdict {
  const leases = leasesOf(history);
  const violations: Violation<ViolationKind>[] = [];
  const coverage = coverageOf(leases);
  const report = (kind: ViolationKind, message: string) => void violations.push({ kind, message });
  const context: Context = {
    report,
    coverage,
    byId: new Map(leases.map((lease) => [lease.id, lease])),
    byRecord: groupBy(leases, ({ record }) => record),
    reorders: history.calls.filter(
      ({ what, answer }) => what.op === "reorder" && (isUnknown(answer) || answer?.status === 200),
    ),
  };
  for (const [record, those] of context.byRecord) judgeRecord(record, those, context);
  for (const call of history.calls) judgeCall(call, context);
  for (const entry of history.log) judgeEntry(entry, context);
  return { violations, coverage, leases };
}

interface Context {
  readonly report: (kind: ViolationKind, message: string) => void;
  readonly coverage: Coverage;
  readonly byId: ReadonlyMap<string, Lease>;
  readonly byRecord: ReadonlyMap<string, readonly Lease[]>;
  readonly reorders: readonly Call[];
}

/** Every claim of a record against every other one. */
function judgeRecord(record: string, leases: readonly Lease[], context: Context): void {
  judgeFences(record, leases, context);
  for (const [i, a] of leases.entries())
    for (const b of leases.slice(i + 1)) {
      if (a.actor === b.actor || !conflict(a.field, b.field)) continue;
      context.coverage.pairs += 1;
      judgeOverlap(a, b, context);
      judgeArrival(a, b, context);
      judgeArrival(b, a, context);
    }
}

function judgeOverlap(a: Lease, b: Lease, { report }: Context): void {
  for (const one of a.ranges)
    for (const other of b.ranges) {
      const ms = Math.min(one.until, other.until) - Math.max(one.from, other.from);
      if (ms > ROUNDING_MS)
        return report(
          "overlap",
          `${named(a)} and ${named(b)} both held for ${ms} ms from ${Math.max(one.from, other.from)} on`,
        );
    }
}

/** Each grant has its own fence. Of two claims that exclude each other, the later grant has the higher one. */
function judgeFences(record: string, leases: readonly Lease[], { report }: Context): void {
  const byFence = new Map<number, Lease>();
  for (const lease of leases) {
    if (lease.fence === undefined) {
      if (lease.grantedBy !== undefined) report("fence", `${named(lease)} was granted without a fence`);
      continue;
    }
    const same = byFence.get(lease.fence);
    if (same) report("fence", `${named(lease)} and ${named(same)} have the same fence on ${record}`);
    byFence.set(lease.fence, lease);
  }
  const inOrder = leases
    .filter((lease) => lease.fence !== undefined && lease.grantedBy !== undefined)
    .sort((a, b) => (a.fence as number) - (b.fence as number));
  let latest: Lease | undefined;
  for (const lease of inOrder) {
    // The highest lower bound so far: a claim with a lower fence was granted then, or later.
    if (latest && latest.grantedFrom > (lease.grantedBy as number) + ROUNDING_MS)
      report("fence", `${named(lease)} was granted before ${named(latest)}, whose fence is lower`);
    if (!latest || lease.grantedFrom > latest.grantedFrom) latest = lease;
  }
}

/** `first` was queued before `second` was requested, so it is granted first as long as it is alive. */
function judgeArrival(first: Lease, second: Lease, { report, coverage, reorders }: Context): void {
  if (!first.joined || !second.firstRequested || first.joined.mono >= second.firstRequested.mono) return;
  const at = second.grantedBy;
  if (at === undefined || second.tookOver) return;
  const overtaken =
    first.grantedFrom > at + ROUNDING_MS ||
    first.waitingAt.some(({ mono }) => mono > (second.heldBefore?.mono ?? never));
  coverage.waiters += 1;
  if (!overtaken) return;
  const alive = first.lifeSigns.some(({ from, until }) => from >= at - ALIVE_MS && until <= at);
  const reordered = reorders.some(
    ({ what, asked, answered }) =>
      what.record === first.record &&
      asked.wall <= at &&
      (answered?.mono ?? Number.POSITIVE_INFINITY) >= (first.joined?.mono ?? 0),
  );
  if (alive && !reordered)
    report(
      "inversion",
      `${named(second)} was granted by ${at}; ${named(first)} had joined the line before it was asked for, lived, and waited beyond that`,
    );
}

function judgeCall(call: Call, context: Context): void {
  const { answer, what } = call;
  if (!answer) return;
  judgeAnswer(call, answer, context.report);
  if (what.op === "renew" || what.op === "release") judgeOwner(call, what.claim, context);
  if (what.op === "write" && answer.status === 409 && answer.holders === undefined)
    context.report("unsaid", `${call.id}: ${answer.code} does not report who holds ${what.record}`);
  if (what.op === "write") judgeWrite(call, what, context);
}

/** The codes that a correct run may get. */
const EXPECTED = new Set([
  "claim_conflict",
  "claim_lost",
  "claim_not_found",
  "not_claim_holder",
  "claim_deadlock",
  "claim_queue_full",
  "too_many_claims",
  "preempt_denied",
  "rate_limited",
  "unavailable",
  "overloaded",
]);

function judgeAnswer({ id, what }: Call, answer: NonNullable<Call["answer"]>, report: Context["report"]): void {
  if (answer.status >= 400 && !EXPECTED.has(answer.code ?? ""))
    report("odd", `${id}: ${what.op} was answered ${answer.status} ${answer.code}`);
  const active = answer.claims.filter(({ status }) => status === "active");
  for (const [i, a] of active.entries())
    for (const b of active.slice(i + 1))
      if (a.record === b.record && a.actor !== b.actor && conflict(a.field, b.field))
        report("overlap", `${id}: one answer shows ${shown(a)} and ${shown(b)}, both active`);
}

function judgeOwner({ id, actor, what, answer }: Call, claim: string, { report, byId }: Context): void {
  const lease = byId.get(claim);
  if (lease && lease.actor !== actor && answer && answer.status < 400)
    report("stranger", `${id}: ${actor} did ${what.op} the claim ${claim} of ${lease.actor}`);
}

type Write = Extract<Call["what"], { op: "write" }>;

function judgeWrite(call: Call, what: Write, { report, coverage, byId, byRecord }: Context): void {
  const { answer, answered, asked } = call;
  if (!answer || !answered || isUnknown(answer)) return;
  coverage.writes += 1;
  const lapsed = what.claim === undefined ? undefined : whyLapsed(what, what.claim, call, byId);
  if (lapsed) {
    coverage.lapsed += 1;
    if (answer.status === 200) report("lapsed", `${call.id} was accepted: ${lapsed}`);
    else if (answer.code !== "claim_lost") report("unsaid", `${call.id} was answered ${answer.code}: ${lapsed}`);
    return;
  }
  const holds = (lease: Lease) =>
    lease.actor === call.actor &&
    lease.ranges.some(({ from, until }) => from + ROUNDING_MS <= asked.wall && answered.wall <= until - ROUNDING_MS);
  const held = (byRecord.get(what.record) ?? []).filter(holds);
  const covered =
    what.claim === undefined
      ? held.some(({ field }) => covers(field, what.fields))
      : held.some(({ id }) => id === what.claim);
  if (!covered) return;
  coverage.byHolders += 1;
  // A claim on one field says nothing about the others.
  const whole = held.some(({ field }) => covers(field, what.fields));
  if (whole && (answer.code === "claim_conflict" || answer.code === "claim_lost"))
    report("refused", `${call.id} of ${call.actor}, who held ${what.record}, was answered ${answer.code}`);
}

const covers = (field: string | undefined, fields: readonly string[] | undefined): boolean =>
  field === undefined || (fields ?? [""]).every((one) => one === field);

/** Why the claim of a write cannot have been valid when it was sent; undefined: it may have been. */
function whyLapsed(what: Write, claim: string, { actor, asked }: Call, byId: Context["byId"]): string | undefined {
  const lease = byId.get(claim);
  // A client names only claims that it has seen, and all of those are recorded, so this one was made up.
  if (!lease) return `${claim} has no lease`;
  if (lease.actor !== actor) return `${claim} is ${lease.actor}'s, not ${actor}'s`;
  if (lease.record !== what.record) return `${claim} is on ${lease.record}, not on ${what.record}`;
  if (asked.wall > lease.overFrom + ROUNDING_MS)
    return `${claim} was over at ${lease.overFrom}, and this was asked at ${asked.wall}`;
  return undefined;
}

/** Checks an entry of the log, by the database's clock. */
function judgeEntry(entry: Entry, { report, coverage, byId, byRecord }: Context): void {
  const named = entry.claim === null ? undefined : byId.get(entry.claim);
  if (named) {
    if (named.actor !== entry.actor)
      report("lapsed", `entry ${entry.syncId} of ${entry.actor} names ${named.actor}'s claim ${named.id}`);
    else if (named.record !== entry.record)
      report("lapsed", `entry ${entry.syncId} on ${entry.record} names the claim ${named.id} on ${named.record}`);
    else if (entry.at > named.overFrom + ROUNDING_MS)
      report(
        "lapsed",
        `entry ${entry.syncId} was written at ${entry.at}; its claim ${named.id} was over at ${named.overFrom}`,
      );
  }
  let underClaim = false;
  for (const lease of byRecord.get(entry.record) ?? []) {
    if (!lease.ranges.some((range) => strictlyIn(entry.at, range))) continue;
    underClaim = true;
    if (lease.actor === entry.actor || !touches(lease.field, entry.fields)) continue;
    report(
      "trespass",
      `entry ${entry.syncId} of ${entry.actor} was written at ${entry.at}, while ${lease.actor} held ${lease.record}${lease.field ? `.${lease.field}` : ""} (${lease.id})`,
    );
  }
  if (underClaim) coverage.underClaim += 1;
}

const strictlyIn = (at: number, { from, until }: TimeRange): boolean =>
  at >= from + ROUNDING_MS && at <= until - ROUNDING_MS;

const touches = (field: string | undefined, fields: readonly string[] | null): boolean =>
  field === undefined || fields === null || fields.includes(field);

const named = ({ id, actor, record, field, fence }: Lease): string =>
  `${id} (${actor}, ${record}${field ? `.${field}` : ""}, fence ${fence ?? "none"})`;
const shown = ({ id, actor, field }: ShownClaim): string => `${id} (${actor}${field ? `, ${field}` : ""})`;
