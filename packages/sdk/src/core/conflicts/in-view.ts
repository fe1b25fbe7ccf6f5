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

/** If "mine" is kept for a deleted record, the record is restored first, with mine on top. */
export function broughtBack(conflicted: Mutation, conflicts: readonly OpenConflict[]): Mutation {
  const deleted = new Set(conflicts.filter((d) => d.theirs === null).map(recordKey));
  const operations = conflicted.operations.map((o): MutationOperation => {
    const row = deleted.has(recordKey(o)) ? conflicted.lost?.[recordKey(o)] : undefined;
    if (!row || o.action !== "update") return o;
    const { changes, ...rest } = o;
    const values = changes && changedValues(row, changes, undefined);
    return { ...rest, action: "create", data: { ...without(row, ["id"]), ...o.data, ...values } };
  });
  return { ...conflicted, operations };
}

/**
 * Removes the conflicting fields from an operation. A conflicted delete or archive is dropped as a whole; a later one
 * is a separate intent and stays.
 */
export function withoutContested(
  o: MutationOperation,
  conflicts: readonly OpenConflict[],
  which: "conflicted" | "later",
): readonly MutationOperation[] {
  const conflict = conflicts.find((d) => recordKey(d) === recordKey(o));
  if (!conflict || o.action === "create") return [o];
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
