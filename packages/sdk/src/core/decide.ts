import { unclaimed } from "./claim-refusal.ts";
import { type Dispute, disputesOf, without } from "./dispute.ts";
import type { Decision } from "./events.ts";
import { localFailure } from "./failure.ts";
import { broughtBack, inView, withoutClaim, withoutContested } from "./in-view.ts";
import type { Mutation, MutationOperation } from "./mutation.ts";
import { find, onRecord } from "./queue.ts";
import { giveUp, putAgain, sendInstead } from "./resend.ts";
import { recordKey } from "./tables.ts";
import { ask, type Turn } from "./turn.ts";

/**
 * What a person, or the app, says about a held or parked write. What is sent again takes the old place in the queue,
 * under a new name: the old name belongs to the answer that it got.
 */
export function decide(turn: Turn, clientTxId: string, decision: Decision, newTxId: string): void {
  const write = find(turn.state.queue, clientTxId);
  const phase = write?.stage.phase;
  if (write && phase === "parked" && decision.kind === "retry") return sendInstead(turn, write, write, newTxId);
  if (write && phase === "parked" && decision.kind === "discard") return giveUp(turn, [write]);
  if (write && phase === "held" && "asOf" in decision) {
    const disputes = disputesOf(turn.state, write).map((d) => asSeen(d, decision.asOf));
    if (decision.kind === "keep-mine") return keepMine(turn, write, disputes, newTxId);
    if (decision.kind === "merge") return merge(turn, write, disputes, decision, newTxId);
    return takeTheirs(turn, write, disputes, newTxId);
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
  const followers = followersOf(turn, held, disputes);
  sendInstead(turn, held, broughtBack(inView(held, disputes), disputes), newTxId);
  putAgain(turn, rebased(followers, disputes));
}

function merge(
  turn: Turn,
  held: Mutation,
  disputes: readonly Dispute[],
  decision: Extract<Decision, { kind: "merge" }>,
  newTxId: string,
): void {
  const followers = followersOf(turn, held, disputes);
  const answered = disputes.filter((d) => recordKey(d) === recordKey(decision));
  const contested = answered.flatMap((d) => d.fields);
  const mine = broughtBack(inView(held, disputes), disputes);
  const operations = mine.operations.map((o): MutationOperation => {
    if (recordKey(o) !== recordKey(decision)) return o;
    const rest = without(o.data ?? {}, contested);
    return { ...o, action: o.action === "create" ? "create" : "update", data: { ...rest, ...decision.patch } };
  });
  sendInstead(turn, held, { ...mine, operations }, newTxId);
  // The later writes of that record are part of "mine", which the patch stands in for; those of others go on.
  putAgain(turn, withoutFields(rebased(followers, disputes), answered));
}

function takeTheirs(turn: Turn, held: Mutation, disputes: readonly Dispute[], newTxId: string): void {
  const followers = followersOf(turn, held, disputes);
  // A premise that moved takes the whole commit with it: what it stood on is no longer so.
  const premiseMoved = disputes.some((d) => d.isPremise || !held.keys.includes(recordKey(d)));
  const mine = inView(held, disputes);
  const operations = premiseMoved ? [] : mine.operations.flatMap((o) => withoutContested(o, disputes, "held"));
  if (operations.length > 0) sendInstead(turn, held, { ...mine, operations }, newTxId);
  else giveUp(turn, [held]);
  putAgain(turn, withoutFields(followers, disputes));
}

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
const rebased = (followers: readonly Mutation[], disputes: readonly Dispute[]): readonly Mutation[] =>
  followers.map((follower) => ({
    ...follower,
    operations: follower.operations.map((o) => {
      const dispute = disputes.find((d) => recordKey(d) === recordKey(o));
      if (!dispute) return o;
      if (dispute.claim) return { ...unclaimed(o), readAt: Math.max(o.readAt ?? 0, dispute.observedSyncId) };
      const written = o.action === "update" ? Object.keys(o.data ?? {}) : undefined;
      if (!dispute.seen && !written?.every((field) => dispute.fields.includes(field))) return o;
      return { ...o, readAt: Math.max(o.readAt ?? 0, dispute.observedSyncId) };
    }),
  }));

const withoutFields = (followers: readonly Mutation[], disputes: readonly Dispute[]): readonly Mutation[] =>
  followers.map((follower) => ({
    ...follower,
    operations: follower.operations.flatMap((o) => withoutContested(withoutClaim(o, disputes), disputes, "later")),
  }));
