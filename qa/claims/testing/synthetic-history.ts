import type { ParticipantKind } from "@holdfast/sdk/protocol";
import { SeededRandom } from "../../support/seeded-random.ts";
import type { Answer, Call, Entry, History, ShownClaim, What } from "../history.ts";
import { conflict } from "../leases.ts";

/** Ways in which the imagined server is wrong. */
export const SYNTHETIC_BUGS = [
  "grants what is held",
  "accepts every write",
  "promotes the last of the line",
  "lets newcomers pass the line",
  "gives the same fence twice",
  "ends leases early",
  "ends leases late",
  "says conflict for a lapsed claim",
  "refuses its holders",
] as const;
export type SyntheticBug = (typeof SYNTHETIC_BUGS)[number];

interface Kept {
  readonly id: string;
  readonly actor: string;
  readonly record: string;
  readonly field: string | undefined;
  readonly createdAt: number;
  status: ShownClaim["status"];
  fence?: number;
  expiresAt?: number;
}

const RECORDS = ["r0", "r1"];
const WHOLE = "";
const FIELDS = [WHOLE, WHOLE, "a", "b"];
const SKEW_MS = 400;

/**
 * The history of a correct server, with requests that overlap, responses that are lost and
 * requests that never arrive; or that of a server with a bug. It shares no code with the
 * checker but the meaning of "excludes".
 */
export function imagine(
  seed: number,
  { steps = 150, bug }: { readonly steps?: number; readonly bug?: SyntheticBug } = {},
): History {
  const chance = new SeededRandom(seed);
  const participants = Array.from({ length: 6 }, (_, i) => ({
    actor: `p${i}`,
    kind: (i === 0 ? "user" : "agent") as ParticipantKind,
    ttlMs: 500 + 300 * i,
  }));
  const claims: Kept[] = [];
  const calls: Call[] = [];
  const log: Entry[] = [];
  const known = new Map<string, string[]>();
  const freeFrom = new Map<string, number>();
  let now = 1_700_000_000_000;
  let fence = 0;
  /** The state before the last change, and until when others still see it, because its commit takes a while. */
  let before: readonly Kept[] = [];
  let seenFrom = 0;

  const skew = bug === "ends leases early" ? SKEW_MS : bug === "ends leases late" ? -SKEW_MS : 0;
  const isHeld = (claim: Kept) => claim.status === "active" && (claim.expiresAt as number) - skew > now;
  const excludes = (claim: Kept, other: Pick<Kept, "actor" | "record" | "field">) =>
    claim.actor !== other.actor && claim.record === other.record && conflict(claim.field, other.field);
  const ttlOf = (actor: string) => participants.find((one) => one.actor === actor)?.ttlMs as number;

  function grant(claim: Kept): void {
    claim.status = "active";
    claim.expiresAt = now + ttlOf(claim.actor);
    if (bug !== "gives the same fence twice" || !chance.percent(30)) fence += 1;
    claim.fence = fence;
  }

  function settle(): void {
    for (const claim of claims) if (claim.status === "active" && !isHeld(claim)) claim.status = "expired";
    const line = claims.filter(({ status }) => status === "queued");
    if (bug === "promotes the last of the line") line.reverse();
    for (const [i, claim] of line.entries())
      if (
        !claims.some((other) => isHeld(other) && excludes(other, claim)) &&
        !line.slice(0, i).some((before) => before.status === "queued" && excludes(before, claim))
      )
        grant(claim);
  }

  const show = ({ id, actor, record, field, status, fence, expiresAt, createdAt }: Kept): ShownClaim => ({
    id,
    actor,
    record,
    ...(field !== undefined && { field }),
    status,
    ...(fence !== undefined && { fence }),
    createdAt,
    ...(status === "active" && expiresAt !== undefined && { expiresAt }),
  });
  const holders = (record: string) => claims.filter((claim) => claim.record === record && isHeld(claim));
  const refused = (code: string, record: string): Answer => ({
    status: 409,
    code,
    claims: holders(record).map(show),
    holders: holders(record).length,
  });

  function answerOf(actor: string, what: What): Answer {
    if (what.op === "claim") return acquire(actor, what);
    if (what.op === "write") return write(actor, what);
    const seen = now < seenFrom ? before : claims;
    if (what.op === "list")
      return {
        status: 200,
        claims: seen.filter((one) => one.record === what.record && (isHeld(one) || one.status === "queued")).map(show),
      };
    if (!("claim" in what)) return { status: 200, claims: [] };
    if (what.op === "poll") return { status: 200, claims: seen.filter(({ id }) => id === what.claim).map(show) };
    const claim = claims.find(({ id }) => id === what.claim) as Kept;
    const lives = isHeld(claim) || claim.status === "queued";
    if (what.op === "release") {
      if (lives) claim.status = claim.status === "queued" ? "canceled" : "released";
      return { status: 200, claims: [] };
    }
    if (!lives) return refused("claim_lost", claim.record);
    if (claim.status === "active") claim.expiresAt = now + ttlOf(actor);
    return { status: 200, claims: [show(claim)] };
  }

  function acquire(actor: string, what: Extract<What, { op: "claim" }>): Answer {
    const { record, field, queue, preempt } = what;
    const own = claims.find(
      (one) =>
        one.actor === actor && one.record === record && one.field === field && (isHeld(one) || one.status === "queued"),
    );
    if (own) {
      if (own.status === "active") own.expiresAt = now + ttlOf(actor);
      return { status: own.status === "active" ? 200 : 202, claims: [show(own)] };
    }
    const fresh: Kept = { id: `c${claims.length}`, actor, record, field, createdAt: now, status: "queued" };
    if (preempt) for (const one of claims) if (isHeld(one) && excludes(one, fresh)) one.status = "preempted";
    const free =
      preempt || bug === "grants what is held" ? true : !claims.some((one) => isHeld(one) && excludes(one, fresh));
    const first =
      preempt ||
      bug === "lets newcomers pass the line" ||
      bug === "grants what is held" ||
      !claims.some((one) => one.status === "queued" && excludes(one, fresh));
    if (free && first) {
      claims.push(fresh);
      grant(fresh);
      return { status: 201, claims: [show(fresh)] };
    }
    if (!queue) return refused("claim_conflict", record);
    claims.push(fresh);
    return { status: 202, claims: [show(fresh)] };
  }

  function write(actor: string, what: Extract<What, { op: "write" }>): Answer {
    const { record, name, fields, claim } = what;
    const isOwn = claims.some((one) => one.id === claim && one.actor === actor && one.record === record && isHeld(one));
    const blocked = claims.some(
      (one) =>
        isHeld(one) &&
        one.actor !== actor &&
        one.record === record &&
        (one.field === undefined || fields === undefined || fields.includes(one.field)),
    );
    if (bug === "refuses its holders" && isOwn && chance.percent(30)) return refused("claim_conflict", record);
    if (bug !== "accepts every write") {
      if (claim !== undefined && !isOwn)
        return refused(bug === "says conflict for a lapsed claim" ? "claim_conflict" : "claim_lost", record);
      if (blocked) return refused("claim_conflict", record);
    }
    log.push({ syncId: log.length + 1, record, fields: fields ?? null, actor, name, claim: claim ?? null, at: now });
    return { status: 200, claims: [], lastSyncId: log.length };
  }

  function choose(actor: string, n: number): What {
    const record = chance.oneOf(RECORDS);
    const field = chance.oneOf(FIELDS) || undefined;
    const mine = claims.filter(({ id }) => known.get(actor)?.includes(id));
    const roll = chance.below(100);
    if (mine.length === 0 || roll < 30)
      return {
        op: "claim",
        record,
        field,
        queue: chance.percent(70),
        ...(actor === "p0" && chance.percent(20) && { preempt: true }),
      };
    const { id: claim, record: on, field: its } = mine.at(-1 - chance.below(Math.min(3, mine.length))) as Kept;
    if (roll < 40) return { op: "renew", record: on, claim };
    if (roll < 50) return { op: "release", record: on, claim };
    if (roll < 65) return { op: "poll", record: on, claim };
    if (roll < 70) return { op: "list", record };
    const fields = its === undefined ? chance.oneOf([null, ["a"], ["b"]]) : [its];
    if (roll < 90) return { op: "write", record: on, name: `w${n}`, ...(fields && { fields }), claim };
    return { op: "write", record, name: `w${n}`, fields: ["a"] };
  }

  for (let n = 0; n < steps; n++) {
    now += 1 + chance.below(150);
    const { actor } = chance.oneOf(participants);
    const asked = now - chance.below(30);
    if ((freeFrom.get(actor) ?? 0) > asked) continue;
    const what = choose(actor, n);
    const reads = what.op === "list" || what.op === "poll";
    if (!reads) {
      // One change after the other; and whatever time has done is done first.
      now = Math.max(now, seenFrom);
      before = claims.map((one) => ({ ...one }));
      settle();
    }
    const arrives = chance.percent(97);
    const answer = arrives ? answerOf(actor, what) : undefined;
    if (!reads) seenFrom = now + chance.below(40);
    const answered = Math.max(now, reads ? now : seenFrom) + chance.below(30);
    freeFrom.set(actor, answered + 1);
    const begun = { id: `q${n}`, actor, what, asked: { mono: asked, wall: asked } };
    if (answer === undefined || chance.percent(3)) {
      calls.push(begun);
      continue;
    }
    for (const { id, actor: whose } of answer.claims)
      if (whose === actor) known.set(actor, [...new Set([...(known.get(actor) ?? []), id])]);
    calls.push({ ...begun, answered: { mono: answered, wall: answered }, answer });
  }
  return { participants, calls: calls.sort((a, b) => a.asked.mono - b.asked.mono), heard: [], log };
}
