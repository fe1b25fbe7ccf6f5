import type { Decision, NewOperation, Plan } from "../events.ts";
import { recordKey } from "../log/tables.ts";
import type { Mutation, MutationOperation } from "../queue/mutation.ts";
import { find, onRecord } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";
import { baseOf } from "./base.ts";
import { unclaimed } from "./claim-conflict.ts";
import { type OpenConflict, openConflictsOf, without } from "./conflict.ts";
import { broughtBack, inView, withoutClaim, withoutContested } from "./in-view.ts";

/**
 * Plans the changes that follow from a decision about a conflicted or rejected write. Undefined: there is nothing to
 * decide any more. This module is separate from the state machine, so that a page without conflicts need not load it.
 */
export function planFor(state: ClientState, clientTxId: string, decision: Decision): Plan | undefined {
  const write = find(state.queue, clientTxId);
  const phase = write?.stage.phase;
  if (write && phase === "parked" && decision.kind === "retry") return { write, instead: write, again: [] };
  if (write && phase === "parked" && decision.kind === "discard") return { write, instead: undefined, again: [] };
  if (write && phase === "parked" && decision.kind === "edit")
    return { write, instead: edited(state, write, decision.operations), again: [] };
  if (!write || phase !== "held" || !("asOf" in decision)) return undefined;
  const disputes = openConflictsOf(state, write).map((d) => asSeen(d, decision.asOf));
  const followers = followersOf(state, write, disputes);
  if (decision.kind === "keep-mine") return keepMine(write, disputes, followers);
  if (decision.kind === "merge") return merge(write, disputes, followers, decision);
  return takeTheirs(write, disputes, followers);
}

/** Rewrites the operations against the current values. */
function edited(state: ClientState, write: Mutation, operations: readonly NewOperation[]): Mutation {
  return { ...write, reads: [], operations: operations.map((o) => ({ ...o, base: baseOf(state, o) })) };
}

/** A decision covers only what the person saw. Later changes of others are not accepted, and become a new conflict. */
const asSeen = (dispute: OpenConflict, asOf: number): OpenConflict => ({
  ...dispute,
  observedSyncId: Math.min(dispute.observedSyncId, Math.max(asOf, dispute.heldAtSyncId)),
});

type Writes = readonly Mutation[];
type OpenConflicts = readonly OpenConflict[];

function keepMine(held: Mutation, disputes: OpenConflicts, followers: Writes): Plan {
  const instead = broughtBack(inView(held, disputes), disputes);
  return { write: held, instead, again: rebased(followers, disputes) };
}

function merge(
  held: Mutation,
  disputes: OpenConflicts,
  followers: Writes,
  decision: Extract<Decision, { kind: "merge" }>,
): Plan {
  const answered = disputes.filter((d) => recordKey(d) === recordKey(decision));
  const contested = answered.flatMap((d) => d.fields);
  const mine = broughtBack(inView(held, disputes), disputes);
  const operations = mine.operations.map((o): MutationOperation => {
    if (recordKey(o) !== recordKey(decision)) return o;
    const rest = without(o.data ?? {}, contested);
    return { ...o, action: o.action === "create" ? "create" : "update", data: { ...rest, ...decision.patch } };
  });
  // Later writes to this record are part of "mine", which the patch replaces. Later writes to other records stay.
  const again = withoutFields(rebased(followers, disputes), answered);
  return { write: held, instead: { ...mine, operations }, again };
}

function takeTheirs(held: Mutation, disputes: OpenConflicts, followers: Writes): Plan {
  // A changed premise affects the whole commit, not only one record.
  const premiseMoved = disputes.some((d) => d.isPremise || !held.keys.includes(recordKey(d)));
  const mine = inView(held, disputes);
  const operations = premiseMoved ? [] : mine.operations.flatMap((o) => withoutContested(o, disputes, "held"));
  const instead = operations.length > 0 ? { ...mine, operations } : undefined;
  return { write: held, instead, again: withoutFields(followers, disputes) };
}

/** Later writes to the conflicting records that are on disk and not sent: the server has not tried them. */
function followersOf({ queue }: ClientState, held: Mutation, disputes: OpenConflicts): Writes {
  const followers = new Set<Mutation>();
  for (const dispute of disputes) {
    const writes = onRecord(queue, recordKey(dispute));
    for (const write of writes.slice(writes.indexOf(held) + 1))
      if (write.stage.phase === "queued") followers.add(write);
  }
  return [...followers];
}

/**
 * Rebases later writes onto theirs where a person has seen theirs: in the conflicting fields, and in all fields once
 * the rows have read that far. The server checks the other fields.
 */
const rebased = (followers: Writes, disputes: OpenConflicts): Writes =>
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

const withoutFields = (followers: Writes, disputes: OpenConflicts): Writes =>
  followers.map((follower) => ({
    ...follower,
    operations: follower.operations.flatMap((o) => withoutContested(withoutClaim(o, disputes), disputes, "later")),
  }));
