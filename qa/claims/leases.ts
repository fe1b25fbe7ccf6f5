import { groupBy } from "../support/group-by.ts";
import type { Call, Heard, History, Moment, ShownClaim } from "./history.ts";

/**
 * What is certain about each claim, derived from what clients saw of it.
 *
 *        shown: active until E                       a release is sent
 *   ├──────────── ttl ────────────┤E                        │
 *   E − ttl: granted, or renewed                            ▼
 *   [E − ttl, min(E, the first thing that may have ended it))  it was held for certain
 *
 * E is the database's time. A request with an unknown outcome may have taken effect at any time after it
 * was sent, for as long as a server or its database may keep it.
 */
export interface Lease {
  readonly id: string;
  readonly actor: string;
  readonly record: string;
  readonly field: string | undefined;
  readonly fence: number | undefined;
  /** Held for certain, in the order of their beginnings. Milliseconds of the database's clock. */
  readonly ranges: readonly TimeRange[];
  /** The response that it is queued; undefined: it never waited, or no client saw it. */
  readonly joined: Moment | undefined;
  /** When the request that made it was sent; undefined: that request is not known. */
  readonly firstRequested: Moment | undefined;
  /** Beginnings of requests that showed it waiting: it waited then, or later. */
  readonly waitingAt: readonly Moment[];
  /** When a client first saw that it is held; undefined: none did. */
  readonly heldBefore: Moment | undefined;
  /** The periods of requests that show that its owner is alive. */
  readonly lifeSigns: readonly TimeRange[];
  /** It was granted at this time at the latest; absent: never, as far as anybody saw. */
  readonly grantedBy: number | undefined;
  /** And at this time at the earliest. That it was seen waiting later does not count: a grant is seen with its commit. */
  readonly grantedFrom: number;
  /** Its owner may have got it past the line, by taking it from an agent. */
  readonly tookOver: boolean;
  /** From here on it is over for certain; infinite where that is not known. */
  readonly overFrom: number;
}

export interface TimeRange {
  readonly from: number;
  readonly until: number;
}

/** The database rounds to milliseconds, and so do we. */
export const ROUNDING_MS = 2;
/** How long a request without an answer may still come to pass. */
export const UNKNOWN_MS = 60_000;

export const conflict = (a: string | undefined, b: string | undefined): boolean =>
  a === undefined || b === undefined || a === b;

export function leasesOf({ participants, calls, heard }: Pick<History, "participants" | "calls" | "heard">): Lease[] {
  const ttlOf = new Map(participants.map(({ actor, ttlMs }) => [actor, ttlMs]));
  const sightings = sightingsOf(calls, heard);
  const owners = groupBy(calls, ({ actor, what }) => `${actor} ${what.record}`);
  const preempts = groupBy(calls.filter(isPreempting), ({ what }) => what.record);
  return [...sightings.values()].map((seen) => {
    const { claim } = seen[0] as Sighting;
    const { actor, record } = claim;
    const others = (preempts.get(record) ?? []).filter((call) => call.actor !== actor);
    return leaseOf(claim, seen, ttlOf.get(actor), owners.get(`${actor} ${record}`) ?? [], others);
  });
}

interface Sighting {
  readonly claim: ShownClaim;
  /** Undefined: the stream pushed it, so only its arrival is known. */
  readonly call: Call | undefined;
  readonly asked: Moment | undefined;
  readonly reported: Moment;
}

function sightingsOf(calls: readonly Call[], heard: readonly Heard[]): Map<string, Sighting[]> {
  const found = new Map<string, Sighting[]>();
  const add = (sighting: Sighting) => {
    const list = found.get(sighting.claim.id);
    if (list) list.push(sighting);
    else found.set(sighting.claim.id, [sighting]);
  };
  for (const call of calls)
    if (call.answer && call.answered)
      for (const claim of call.answer.claims) add({ claim, call, asked: call.asked, reported: call.answered });
  for (const { claim, at } of heard) add({ claim, call: undefined, asked: undefined, reported: at });
  return found;
}

function leaseOf(
  claim: ShownClaim,
  seen: readonly Sighting[],
  ttlMs: number | undefined,
  owners: readonly Call[],
  preempts: readonly Call[],
): Lease {
  const { id, actor, record, field } = claim;
  const target = { id, actor, record, field };
  const own = owners.filter((call) => mayRenew(call, target));
  const ends = [...owners, ...preempts].filter((call) => mayEnd(call, target));
  const active = seen.filter((one) => one.claim.status === "active" && one.claim.expiresAt !== undefined);
  const lastE = Math.max(...active.map((one) => one.claim.expiresAt as number), Number.NEGATIVE_INFINITY);
  const starts =
    ttlMs === undefined
      ? []
      : active.map((one) => ({ from: (one.claim.expiresAt as number) - ttlMs, until: one.claim.expiresAt as number }));
  const ranges = merged(
    starts.map(({ from, until }) => ({ from, until: Math.min(until, ...ends.map((end) => endsFrom(end, from))) })),
  );
  const held = seen.filter((one) => one.claim.status === "active").sort((a, b) => a.reported.mono - b.reported.mono);
  const grantedBy = starts.length === 0 ? undefined : Math.min(...starts.map(({ from }) => from));
  // A lease that began in the midst of a renewal may have been granted before it.
  const renewed = grantedBy !== undefined && own.some((call) => !granting(call, id) && within(grantedBy, call));
  return {
    ...target,
    fence: seen.find((one) => one.claim.fence !== undefined)?.claim.fence,
    ranges,
    joined: joinedAt(seen),
    firstRequested: firstRequest(
      own.filter(({ what }) => what.op === "claim"),
      claim.createdAt,
    ),
    waitingAt: seen.flatMap((one) => (one.claim.status === "queued" && one.asked ? [one.asked] : [])),
    heldBefore: held[0]?.reported,
    lifeSigns: [...own, ...owners.filter((call) => isPoll(call, id))].flatMap(({ asked, answered, answer }) =>
      answered && answer && answer.status < 300 ? [{ from: asked.wall, until: answered.wall }] : [],
    ),
    grantedBy,
    tookOver: own.some((call) => isPreempting(call) && (grantedBy === undefined || within(grantedBy, call))),
    grantedFrom: grantedBy === undefined || renewed ? claim.createdAt : grantedBy,
    overFrom: Math.min(
      overFrom(lastE, own, ends, ttlMs),
      ...seen.filter(hasEnded).map(({ reported }) => reported.wall),
    ),
  };
}

interface Target {
  readonly id: string;
  readonly actor: string;
  readonly record: string;
  readonly field: string | undefined;
}

/** A repeated acquire, or a renewal. */
const mayRenew = ({ what }: Call, { id, field }: Target): boolean =>
  (what.op === "claim" && what.field === field) || (what.op === "renew" && what.claim === id);

/** Whether this request, of its owner or of a preempting participant, may have ended it. A refusal ends nothing. */
function mayEnd({ actor, what, answer }: Call, target: Target): boolean {
  if (!isUnknown(answer) && (answer?.status ?? 0) >= 400) return false;
  if (what.op === "release") return what.claim === target.id;
  if (what.op === "release-record") return true;
  return what.op === "claim" && what.preempt === true && actor !== target.actor && conflict(what.field, target.field);
}

/** From when on a range that began at `from` may be over by this. */
function endsFrom(end: Call, from: number): number {
  if (end.asked.wall >= from) return end.asked.wall;
  const until = isUnknown(end.answer) ? end.asked.wall + UNKNOWN_MS : (end.answered as Moment).wall;
  return until >= from ? from : Number.POSITIVE_INFINITY;
}

/** Stretches in order; those that meet are one. */
function merged(ranges: readonly TimeRange[]): TimeRange[] {
  const out: TimeRange[] = [];
  for (const one of ranges.filter(({ from, until }) => until > from).sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && one.from <= last.until)
      out[out.length - 1] = { from: last.from, until: Math.max(last.until, one.until) };
    else out.push(one);
  }
  return out;
}

const joinedAt = (seen: readonly Sighting[]): Moment | undefined =>
  seen.find(({ call, claim }) => call?.what.op === "claim" && call.answer?.status === 202 && claim.status === "queued")
    ?.reported;

const granting = ({ answer }: Call, id: string): boolean =>
  answer?.status === 201 && answer.claims.some((claim) => claim.id === id);

const firstRequest = (requests: readonly Call[], createdAt: number): Moment | undefined =>
  requests.find((call) => within(createdAt, call))?.asked;

const isPreempting = ({ what }: Call): boolean => what.op === "claim" && what.preempt === true;

const isPoll = ({ what }: Call, id: string): boolean => what.op === "poll" && what.claim === id;

const hasEnded = ({ claim }: Sighting): boolean => claim.status !== "active" && claim.status !== "queued";

const within = (at: number, { asked, answered, answer }: Call): boolean =>
  at >= asked.wall - ROUNDING_MS &&
  at <= (isUnknown(answer) || !answered ? asked.wall + UNKNOWN_MS : answered.wall) + ROUNDING_MS;

/** The latest time at which it may still be held; from there on it is over. */
function overFrom(lastE: number, own: readonly Call[], ends: readonly Call[], ttlMs: number | undefined): number {
  const released = ends.flatMap(({ what, answer, answered }) =>
    what.op === "release" && answer?.status === 200 && answered ? [answered.wall] : [],
  );
  let last = lastE;
  if (ttlMs === undefined || lastE === Number.NEGATIVE_INFINITY) last = Number.POSITIVE_INFINITY;
  // A request with an unknown outcome may have renewed it once more.
  else
    for (const { asked, answer } of own)
      if (isUnknown(answer) && asked.wall <= last) last = Math.max(last, asked.wall + UNKNOWN_MS + ttlMs);
  return Math.min(last, ...released);
}

export const isUnknown = (answer: Call["answer"]): boolean => answer === undefined || answer.status >= 500;
