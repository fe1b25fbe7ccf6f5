import { changedValues, writtenFields } from "../../protocol/commits/field-change.ts";
import type { StaleNotification } from "../../protocol/commits/stale.ts";
import { recordKey } from "../log/tables.ts";
import type { Mutation, MutationOperation, Premise } from "../queue/mutation.ts";
import { unclaimed } from "./claim-conflict.ts";
import { type OpenConflict, without } from "./conflict.ts";

/**
 * Restates a conflicted write as if its author had seen the changes of others, so that the server no longer finds it
 * stale.
 */
export function inView(conflicted: Mutation, conflicts: readonly OpenConflict[]): Mutation {
  const seenOf = new Map(conflicts.map((d) => [recordKey(d), d.observedSyncId]));
  const groups =
    conflicted.stage.phase === "conflicted" ? conflicted.stage.notifications.filter((n) => n.group !== undefined) : [];
  return {
    ...conflicted,
    operations: conflicted.operations.map((o) => ({
      ...withoutClaim(o, conflicts),
      readAt: latest(o.readAt, seenOf.get(recordKey(o))),
    })),
    reads: conflicted.reads.map((premise) => ({
      ...premise,
      readAt: latest(premise.readAt, seenBy(premise, seenOf, groups)),
    })),
  };
}

/**
 * If "mine" is kept for a deleted record, the record is restored first, with mine on top. If mine deletes it in the end,
 * or creates it anew, it stays deleted until then: what was written before has nothing to change.
 */
export function broughtBack(
  conflicted: Mutation,
  followers: readonly Mutation[],
  conflicts: readonly OpenConflict[],
): { readonly instead: Mutation; readonly again: readonly Mutation[] } {
  const deleted = new Map(conflicts.flatMap((d) => (d.theirs === null ? [[recordKey(d), d.wants]] : [])));
  const broughtOperations = (write: Mutation): Mutation => ({
    ...write,
    operations: write.operations.flatMap((o) => {
      const key = recordKey(o);
      const wants = deleted.get(key);
      if (o.action === "create") deleted.delete(key);
      if (!wants || o.action === "create" || o.action === "delete") return [o];
      const { changes, ...rest } = o;
      // A delete of a missing record succeeds, so the decision has a write that can be confirmed.
      if (wants !== "changes") return write === conflicted ? [{ ...rest, action: "delete", data: undefined }] : [];
      const row = conflicted.lost?.[key];
      if (!row) return [o];
      deleted.delete(key);
      const values = changes && changedValues(row, changes, undefined);
      const typed = { ...o.data, ...values };
      const copied = Object.keys(without(row, ["id", ...Object.keys(typed)]));
      const whole = { ...rest, action: "create", data: { ...without(row, ["id"]), ...typed }, copied } as const;
      return o.action === "update" ? [whole] : [whole, o];
    }),
  });
  return { instead: broughtOperations(conflicted), again: followers.map(broughtOperations) };
}

/**
 * Removes the conflicting fields from an operation. A conflicted delete or archive is dropped as a whole; a later one
 * is a separate intent and stays. Of a record that was created anew, everything is dropped: also the delete before it.
 */
export function withoutContested(
  o: MutationOperation,
  conflicts: readonly OpenConflict[],
  {
    seq,
    which,
    taken,
  }: { readonly seq: number; readonly which: "conflicted" | "later"; readonly taken: "theirs" | "merged" },
): readonly MutationOperation[] {
  const conflict = conflicts.find((d) => recordKey(d) === recordKey(o));
  if (!conflict) return [o];
  if (conflict.madeUpTo !== undefined && seq <= conflict.madeUpTo) return [];
  // Nothing can be written to a record that stays deleted.
  if (taken === "theirs" && conflict.theirs === null && o.action !== "delete") return [];
  if (o.action === "create") return [o];
  if (o.action !== "update") return which === "conflicted" ? [] : [o];
  const data = without(o.data ?? {}, conflict.fields);
  // A change fits whatever they wrote. Only who holds a claim can keep it out.
  const changes = o.changes && without(o.changes, conflict.claim ? conflict.fields : []);
  return writtenFields({ data, changes }).length > 0 ? [{ ...o, data, ...(changes && { changes }) }] : [];
}

/** What remains to be sent of a write with a claim conflict. */
export const withoutClaim = (o: MutationOperation, conflicts: readonly OpenConflict[]): MutationOperation =>
  conflicts.some((d) => d.claim && recordKey(d) === recordKey(o)) ? unclaimed(o) : o;

function seenBy(
  { group, model, id }: Premise,
  seenOf: ReadonlyMap<string, number>,
  groups: readonly StaleNotification[],
): number | undefined {
  if (group !== undefined) return groups.find((n) => n.group === group)?.observedSyncId;
  return model !== undefined && id !== undefined ? seenOf.get(recordKey({ model, id })) : undefined;
}

const latest = (own: number | undefined, seen: number | undefined): number | undefined =>
  seen === undefined ? own : Math.max(own ?? 0, seen);
