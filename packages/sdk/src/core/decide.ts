import type { StaleNotification } from "../protocol/stale.ts";
import { type Dispute, disputesOf, without } from "./dispute.ts";
import type { Decision } from "./events.ts";
import { localFailure } from "./failure.ts";
import { keysOf, type Mutation, type MutationOperation, type Premise, sealed } from "./mutation.ts";
import { find, onRecord, removed, replaced } from "./queue.ts";
import { recordKey } from "./tables.ts";
import { ask, set, type Turn, touch } from "./turn.ts";

/**
 * What a person, or the app, says about a held or parked write. What is sent again takes the old place in the queue,
 * under a new name: the old name belongs to the answer that it got.
 */
export function decide(turn: Turn, clientTxId: string, decision: Decision, newTxId: string): void {
  const write = find(turn.state.queue, clientTxId);
  const phase = write?.stage.phase;
  if (write && phase === "parked" && decision.kind === "retry") return sendInstead(turn, write, write, newTxId, []);
  if (write && phase === "parked" && decision.kind === "discard") return giveUp(turn, [write]);
  if (write && phase === "held" && "asOf" in decision) {
    const disputes = disputesOf(turn.state, write).map((d) => asSeen(d, decision.asOf));
    if (decision.kind === "keep-mine") return keepMine(turn, write, disputes, newTxId);
    if (decision.kind === "merge") return merge(turn, write, disputes, decision, newTxId);
    if (decision.kind === "take-theirs") return takeTheirs(turn, write, disputes, newTxId);
  }
  const failure = localFailure(
    "discarded",
    "There is nothing to decide any more: it was answered elsewhere, or settled.",
  );
  ask(turn, { do: "tell", clientTxId: newTxId, news: { kind: "failed", failure } });
}

/** A decision is about what its person saw: what came after that is not agreed to, and is found stale once more. */
const asSeen = (dispute: Dispute, asOf: number): Dispute => ({
  ...dispute,
  observedSyncId: Math.min(dispute.observedSyncId, Math.max(asOf, dispute.heldAtSyncId)),
});

function keepMine(turn: Turn, held: Mutation, disputes: readonly Dispute[], newTxId: string): void {
  const again = { ...held, ...inView(held, disputes) };
  sendInstead(turn, held, again, newTxId, rebasedFollowers(turn, held, disputes));
}

function merge(
  turn: Turn,
  held: Mutation,
  disputes: readonly Dispute[],
  decision: Extract<Decision, { kind: "merge" }>,
  newTxId: string,
): void {
  const key = recordKey(decision);
  const dispute = disputes.find((d) => recordKey(d) === key);
  const { operations, reads } = inView(held, disputes);
  const merged = operations.map((o): MutationOperation => {
    if (recordKey(o) !== key) return o;
    const rest = o.action === "update" || o.action === "create" ? without(o.data ?? {}, dispute?.fields ?? []) : {};
    return { ...o, action: o.action === "create" ? "create" : "update", data: { ...rest, ...decision.patch } };
  });
  // The later writes of that record are part of "mine", which the patch stands in for; of the others they go on.
  const followers = rebasedFollowers(turn, held, disputes).map((f) => dropFields(f, dispute ? [dispute] : []));
  sendInstead(turn, held, { ...held, operations: merged, reads }, newTxId, followers);
}

function takeTheirs(turn: Turn, held: Mutation, disputes: readonly Dispute[], newTxId: string): void {
  const followers = followersOf(turn, held, disputes).map((follower) => dropFields(follower, disputes));
  const { operations, reads } = inView(held, disputes);
  const ownKeys = new Set(held.keys);
  // A premise that moved takes the whole commit with it: what it stood on is no longer so.
  const premiseMoved = disputes.some((d) => !ownKeys.has(recordKey(d))) || notificationsOf(held).some((n) => n.group);
  const rest = premiseMoved ? [] : operations.flatMap((o) => withoutContested(o, disputes, true));
  if (rest.length > 0) return sendInstead(turn, held, { ...held, operations: rest, reads }, newTxId, followers);
  giveUp(turn, [held]);
  putFollowers(turn, followers);
}

/** The same operations, as written in view of what the server had when it held them. */
function inView(held: Mutation, disputes: readonly Dispute[]): Pick<Mutation, "operations" | "reads"> {
  const observed = (matches: (d: Dispute) => boolean) =>
    Math.max(-1, ...disputes.filter(matches).map((d) => d.observedSyncId));
  const readAt = (own: number | undefined, seen: number) => (seen < 0 ? own : Math.max(own ?? 0, seen));
  const groups = notificationsOf(held).filter((n) => n.group !== undefined);
  const premise = (r: Premise): Premise => {
    const moved = groups.filter((n) => n.group === r.group).map((n) => n.observedSyncId);
    const seen = r.group
      ? Math.max(-1, ...moved)
      : observed(
          (d) =>
            r.model !== undefined && r.id !== undefined && recordKey(d) === recordKey({ model: r.model, id: r.id }),
        );
    return { ...r, readAt: readAt(r.readAt, seen) };
  };
  return {
    operations: held.operations.map((o) => ({
      ...o,
      readAt: readAt(
        o.readAt,
        observed((d) => recordKey(d) === recordKey(o)),
      ),
    })),
    reads: held.reads.map(premise),
  };
}

const notificationsOf = (held: Mutation): readonly StaleNotification[] =>
  held.stage.phase === "held" ? held.stage.notifications : [];

/** Later writes to the disputed records that are on disk and have not been sent: the server never tried them. */
function followersOf(turn: Turn, held: Mutation, disputes: readonly Dispute[]): readonly Mutation[] {
  const followers = new Set<Mutation>();
  for (const dispute of disputes) {
    const writes = onRecord(turn.state.queue, recordKey(dispute));
    for (const write of writes.slice(writes.indexOf(held) + 1))
      if (write.stage.phase === "queued") followers.add(write);
  }
  return [...followers];
}

/**
 * Later writes of mine go on as written in view of theirs – where a person has seen theirs: in the conflicting
 * fields, and everywhere once the rows have read that far. Others are left for the server to judge.
 */
function rebasedFollowers(turn: Turn, held: Mutation, disputes: readonly Dispute[]): readonly Mutation[] {
  return followersOf(turn, held, disputes).map((follower) => ({
    ...follower,
    operations: follower.operations.map((o) => {
      const dispute = disputes.find((d) => recordKey(d) === recordKey(o));
      if (!dispute) return o;
      const written = o.action === "update" ? Object.keys(o.data ?? {}) : undefined;
      if (!dispute.seen && !written?.every((field) => dispute.fields.includes(field))) return o;
      return { ...o, readAt: Math.max(o.readAt ?? 0, dispute.observedSyncId) };
    }),
  }));
}

const dropFields = (follower: Mutation, disputes: readonly Dispute[]): Mutation => ({
  ...follower,
  operations: follower.operations.flatMap((o) => withoutContested(o, disputes, false)),
});

/** A held delete or archive is given up whole; a later one is another wish, and the server judges it by itself. */
function withoutContested(
  o: MutationOperation,
  disputes: readonly Dispute[],
  held: boolean,
): readonly MutationOperation[] {
  const dispute = disputes.find((d) => recordKey(d) === recordKey(o));
  if (!dispute) return [o];
  if (o.action !== "update") return held && o.action !== "create" ? [] : [o];
  const data = without(o.data ?? {}, dispute.fields);
  return Object.keys(data).length > 0 ? [{ ...o, data }] : [];
}

/** Puts a write in the place of another and on disk; only from there it is sent. */
function sendInstead(
  turn: Turn,
  before: Mutation,
  next: Mutation,
  newTxId: string,
  followers: readonly Mutation[],
): void {
  const fresh = reseal(turn, { ...next, clientTxId: newTxId, attempts: 0, landed: [], createdAt: before.createdAt });
  set(turn, { queue: replaced(turn.state.queue, before.clientTxId, fresh) });
  touch(turn, [...before.keys, ...fresh.keys]);
  ask(turn, { do: "persist", mutations: [fresh] });
  putFollowers(turn, followers);
}

/** Followers keep their names: they were never tried, so no answer belongs to them yet. */
function putFollowers(turn: Turn, followers: readonly Mutation[]): void {
  const emptied = followers.filter((f) => f.operations.length === 0);
  const rest = followers.filter((f) => f.operations.length > 0).map((f) => reseal(turn, f));
  const byName = new Map(rest.map((f) => [f.clientTxId, f]));
  for (const follower of rest) set(turn, { queue: replaced(turn.state.queue, follower.clientTxId, follower) });
  touch(
    turn,
    followers.flatMap((f) => f.keys),
  );
  if (byName.size > 0) ask(turn, { do: "persist", mutations: rest });
  giveUp(turn, emptied);
}

const reseal = (turn: Turn, m: Mutation): Mutation =>
  sealed(
    { ...m, keys: keysOf(m.operations), stage: { phase: "saving" } },
    turn.state.clientId,
    turn.state.rows.position ?? 0,
  );

function giveUp(turn: Turn, writes: readonly Mutation[]): void {
  if (writes.length === 0) return;
  const clientTxIds = writes.map((m) => m.clientTxId);
  set(turn, { queue: removed(turn.state.queue, clientTxIds) });
  touch(
    turn,
    writes.flatMap((m) => m.keys),
  );
  for (const clientTxId of clientTxIds)
    ask(turn, { do: "tell", clientTxId, news: { kind: "failed", failure: localFailure("discarded") } });
  ask(turn, { do: "forget", seqs: writes.map((m) => m.seq).filter((seq) => seq !== undefined), clientTxIds });
}
