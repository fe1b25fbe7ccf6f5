import type { JsonObject } from "../../protocol/json.ts";
import type { Decision, NewOperation, Plan } from "../events.ts";
import { recordKey } from "../log/tables.ts";
import { archivedSince, isHidden, withLost } from "../queue/last-values.ts";
import { keysOf, type Mutation, type MutationOperation } from "../queue/mutation.ts";
import { find, onRecord } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";
import { baseOf } from "./base.ts";
import { unclaimed } from "./claim-conflict.ts";
import { type OpenConflict, openConflictsOf, positionOf, without } from "./conflict.ts";
import { broughtBack, inView, withoutClaim, withoutContested } from "./in-view.ts";
import { isWithinReach, unfollowedValues } from "./unfollowed.ts";

/**
 * Plans the changes that follow from a decision about a conflicted or rejected write. Undefined: there is nothing to
 * decide any more. This module is separate from the state machine, so that a page without conflicts need not load it.
 */
export function planFor(state: ClientState, clientTxId: string, decision: Decision): Plan | undefined {
  const plan = planOf(state, clientTxId, decision);
  return plan && handOn(plan, state);
}

function planOf(state: ClientState, clientTxId: string, decision: Decision): Plan | undefined {
  const write = find(state.queue, clientTxId);
  const phase = write?.stage.phase;
  if (write && phase === "rejected" && decision.kind === "retry") return { write, instead: write, again: [] };
  if (write && phase === "rejected" && decision.kind === "discard") return { write, instead: undefined, again: [] };
  if (write && phase === "rejected" && decision.kind === "edit")
    return { write, instead: edited(state, write, decision.operations), again: [] };
  if (!write || phase !== "conflicted" || !("asOf" in decision)) return undefined;
  const conflicts = openConflictsOf(state, write).map((d) => asSeen(d, decision.asOf));
  const followers = followersOf(state, write, conflicts);
  const plan =
    decision.kind === "keep-mine"
      ? keepMine(write, conflicts, followers)
      : decision.kind === "merge"
        ? merge(write, conflicts, followers, decision)
        : takeTheirs(write, conflicts, followers);
  return withTheirs(plan, state, conflicts);
}

/** A record that is not loaded any more is shown with theirs, as long as a write to it is on its way. */
function withTheirs({ write, instead, again }: Plan, state: ClientState, conflicts: OpenConflicts): Plan {
  const shown = conflicts.flatMap((d) => {
    const key = recordKey(d);
    const writes = onRecord(state.queue, key);
    const values = unfollowedValues(state, key, writes);
    if (!values || isHidden(values) || !d.theirs) return [];
    return [{ key, data: { ...values, ...d.theirs }, archivedAt: archivedSince(writes, key) }];
  });
  const show = (m: Mutation): Mutation => {
    const keys = keysOf(m.operations);
    return shown.filter(({ key }) => keys.includes(key)).reduce((next, { key, ...row }) => withLost(next, key, row), m);
  };
  // What is sent in its place restores none of the records that it was about.
  const decided = new Set(conflicts.map(recordKey));
  const left = instead && withLostOf(instead, (key) => !decided.has(key));
  return { write, instead: left && show(left), again: again.map((m) => show(withLostOf(m, () => true))) };
}

/** The write with the last values of some of its records. */
function withLostOf(m: Mutation, isOne: (key: string) => boolean): Mutation {
  const keys = keysOf(m.operations);
  const lost = Object.entries(m.lost ?? {}).filter(([key]) => keys.includes(key) && isOne(key));
  return { ...m, lost: lost.length > 0 ? Object.fromEntries(lost) : undefined };
}

/**
 * A record that is not loaded any more may be shown only because of the write. If that does nothing to it from now on,
 * the next write to it gets the last values.
 */
function handOn({ write, instead, again }: Plan, state: ClientState): Plan {
  const stays = keysOf(instead?.operations ?? []);
  const changed = new Map(again.map((m) => [m.clientTxId, m]));
  for (const [key, data] of Object.entries(write.lost ?? {})) {
    if (stays.includes(key) || isHidden(data) || isWithinReach(state, key, [write])) continue;
    const writes = onRecord(state.queue, key);
    const others = writes.filter((m) => m !== write).map((m) => changed.get(m.clientTxId) ?? m);
    // One of them is in the log, or has the values.
    if (others.some(({ echoed, lost }) => echoed.includes(key) || lost?.[key])) continue;
    const next = others.find((m) => m.operations.some((o) => recordKey(o) === key));
    if (next) changed.set(next.clientTxId, withLost(next, key, { data, archivedAt: archivedSince([write], key) }));
  }
  return { write, instead, again: [...changed.values()] };
}

/** Rewrites the operations against the current values. */
function edited(state: ClientState, write: Mutation, operations: readonly NewOperation[]): Mutation {
  const rewritten = operations.map((o) => ({ ...o, base: baseOf(state, o) }));
  return withLostOf({ ...write, reads: [], operations: rewritten }, (key) => !isWithinReach(state, key, [write]));
}

/** A decision covers only what the person saw. Later changes of others are not accepted, and become a new conflict. */
const asSeen = (conflict: OpenConflict, asOf: number): OpenConflict => ({
  ...conflict,
  observedSyncId: Math.min(conflict.observedSyncId, Math.max(asOf, conflict.heldAtSyncId)),
});

type Writes = readonly Mutation[];
type OpenConflicts = readonly OpenConflict[];

function keepMine(conflicted: Mutation, conflicts: OpenConflicts, followers: Writes): Plan {
  const again = rebased(conflicted, followers, conflicts);
  return { write: conflicted, ...broughtBack(inView(conflicted, conflicts), again, conflicts) };
}

function merge(
  conflicted: Mutation,
  conflicts: OpenConflicts,
  followers: Writes,
  decision: Extract<Decision, { kind: "merge" }>,
): Plan {
  const answered = conflicts.filter((d) => recordKey(d) === recordKey(decision));
  const contested = answered.flatMap((d) => d.fields);
  const { instead: mine, again: later } = broughtBack(
    inView(conflicted, conflicts),
    rebased(conflicted, followers, conflicts),
    conflicts,
  );
  const whole = answered.find((d) => d.theirs === null || d.madeUpTo !== undefined);
  const [first] = mine.operations.filter((o) => recordKey(o) === recordKey(decision));
  const operations = mine.operations.flatMap((o): readonly MutationOperation[] => {
    if (recordKey(o) !== recordKey(decision)) return [o];
    if (whole) return o === first ? [mergedWhole(o, whole, conflicted, decision.patch)] : [];
    const rest = without(o.data ?? {}, contested);
    const changes = o.changes && without(o.changes, Object.keys(decision.patch));
    return [{ ...o, action: "update", data: { ...rest, ...decision.patch }, ...(changes && { changes }) }];
  });
  // Later writes to this record are part of "mine", which the patch replaces. Later writes to other records stay.
  const again = withoutFields(later, answered, "merged");
  return { write: conflicted, instead: { ...mine, operations }, again };
}

/**
 * The one operation that is left of all that a write does to a record. If theirs is deleted, it creates the record: with
 * mine in the fields that the patch leaves out. If mine was created anew, it gives theirs the values of the patch.
 */
function mergedWhole(
  { changes: _, ...o }: MutationOperation,
  { theirs, wants, mine }: OpenConflict,
  { lost }: Mutation,
  patch: JsonObject,
): MutationOperation {
  if (theirs) return { ...o, action: "update", data: patch };
  const row = wants === "creation" ? {} : without(lost?.[recordKey(o)] ?? {}, ["id"]);
  const copied = Object.keys({ ...row, ...o.data }).filter((field) => !(field in mine) && !(field in patch));
  return { ...o, action: "create", data: { ...row, ...o.data, ...mine, ...patch }, copied };
}

function takeTheirs(conflicted: Mutation, conflicts: OpenConflicts, followers: Writes): Plan {
  // A changed premise affects the whole commit, not only one record.
  const premiseMoved = conflicts.some((d) => d.isPremise || !conflicted.keys.includes(recordKey(d)));
  const mine = inView(conflicted, conflicts);
  const operations = premiseMoved
    ? []
    : mine.operations.flatMap((o) =>
        withoutContested(o, conflicts, { seq: positionOf(conflicted), which: "conflicted", taken: "theirs" }),
      );
  const instead = operations.length > 0 ? { ...mine, operations } : undefined;
  return { write: conflicted, instead, again: withoutFields(followers, conflicts, "theirs") };
}

/** Later writes to the conflicting records that are on disk and not sent. What the log has already stays as it is. */
function followersOf({ queue }: ClientState, conflicted: Mutation, conflicts: OpenConflicts): Writes {
  const followers = new Set<Mutation>();
  for (const conflict of conflicts) {
    const writes = onRecord(queue, recordKey(conflict));
    for (const write of writes.slice(writes.indexOf(conflicted) + 1))
      if (write.stage.phase === "queued" && write.echoed.length === 0) followers.add(write);
  }
  return [...followers];
}

/**
 * Rebases later writes onto theirs where a person has seen theirs: in the conflicting fields, and in all fields once
 * the rows have read that far. The server checks the other fields. What follows a create is about the record as it was
 * created, so nothing of theirs is in it.
 */
function rebased(conflicted: Mutation, followers: Writes, conflicts: OpenConflicts): Writes {
  const created = new Set(conflicted.operations.flatMap((o) => (o.action === "create" ? [recordKey(o)] : [])));
  return followers.map((follower) => ({
    ...follower,
    operations: follower.operations.map((o) => {
      const key = recordKey(o);
      const conflict = conflicts.find((d) => recordKey(d) === key);
      if (!conflict) return o;
      const seen = { readAt: Math.max(o.readAt ?? 0, conflict.observedSyncId) };
      if (conflict.claim) return { ...unclaimed(o), ...seen };
      if (o.action === "create") created.add(key);
      const written = o.action === "update" ? Object.keys(o.data ?? {}) : undefined;
      const isSeen = conflict.seen || created.has(key) || written?.every((field) => conflict.fields.includes(field));
      return isSeen ? { ...o, ...seen } : o;
    }),
  }));
}

const withoutFields = (followers: Writes, conflicts: OpenConflicts, taken: "theirs" | "merged"): Writes =>
  followers.map((follower) => ({
    ...follower,
    operations: follower.operations.flatMap((o) =>
      withoutContested(withoutClaim(o, conflicts), conflicts, { seq: positionOf(follower), which: "later", taken }),
    ),
  }));
