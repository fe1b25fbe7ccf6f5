import type { Action } from "../../protocol/commits/action.ts";
import { changedValues } from "../../protocol/commits/field-change.ts";
import type { StaleNotification } from "../../protocol/commits/stale.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { lookUp, type RecordRef, recordKey, tableOf } from "../log/tables.ts";
import type { ClaimRefusal, Mutation } from "../queue/mutation.ts";
import { onRecord } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";
import { isUnseen, isWithinReach } from "./unfollowed.ts";

/** A conflict on one record: a conflicted write, the changes of others, and the base that both started from. */
export interface OpenConflict {
  readonly clientTxId: string;
  readonly model: string;
  readonly id: string;
  readonly action: Action;
  /** Fields that both sides changed. */
  readonly fields: readonly string[];
  /** Everything that this client wants to write to the record, including its later writes. */
  readonly mine: JsonObject;
  /** What these writes make of the record in the end: they change it, delete it, or create it anew as `mine`. */
  readonly wants: "changes" | "deletion" | "creation";
  /**
   * The last `seq` of the writes that belong to the new record: the last create, and what was written before a person
   * could see theirs. Undefined if they create none. They may delete it again.
   */
  readonly madeUpTo: number | undefined;
  readonly base: JsonObject;
  /** Null: the record was deleted. */
  readonly theirs: JsonObject | null;
  readonly writtenBy: string;
  /** The premise is a group that changed: it affects the whole commit, whichever records the commit writes. */
  readonly isPremise: boolean;
  /** The newest log entry of others that `theirs` contains. */
  readonly observedSyncId: number;
  /** The newest entry of others when the server reported the conflict. */
  readonly heldAtSyncId: number;
  /** Whether the rows have read as far as the server had when it reported the conflict. Then `theirs` is complete. */
  readonly seen: boolean;
  /** Set if the conflict is about a claim, not about a newer write. */
  readonly claim: ClaimRefusal | undefined;
}

type Sides = Pick<ClientState, "rows" | "queue" | "models">;

/** One conflict for each record or group that a conflicted write was notified of. */
export function openConflictsOf(sides: Sides, conflicted: Mutation): readonly OpenConflict[] {
  if (conflicted.stage.phase !== "conflicted") return [];
  const { notifications, claim } = conflicted.stage;
  return [...together(notifications).values()].map((one) => openConflictOf(sides, conflicted, one, claim));
}

/** The server notifies of each operation: those on one record are one conflict. */
function together(notifications: readonly StaleNotification[]): ReadonlyMap<string, StaleNotification> {
  const all = new Map<string, StaleNotification>();
  for (const one of notifications) {
    const key = one.group === undefined ? recordKey(one) : `group ${one.group}`;
    const { conflictingFields = [], currentValues, observedSyncId = 0 } = all.get(key) ?? {};
    all.set(key, {
      ...one,
      conflictingFields: [...new Set([...conflictingFields, ...one.conflictingFields])],
      currentValues: { ...currentValues, ...one.currentValues },
      observedSyncId: Math.max(observedSyncId, one.observedSyncId),
    });
  }
  return all;
}

/** The conflict on one record, if a write to it is conflicted. */
export function openConflictOn(sides: Sides, conflicted: Mutation, key: string): OpenConflict | undefined {
  if (conflicted.stage.phase !== "conflicted" || !conflicted.keys.includes(key)) return undefined;
  const notification = together(conflicted.stage.notifications).get(key);
  return notification && openConflictOf(sides, conflicted, notification, conflicted.stage.claim);
}

function openConflictOf(
  { rows, queue, models }: Sides,
  conflicted: Mutation,
  notification: StaleNotification,
  claim: ClaimRefusal | undefined,
): OpenConflict {
  const record: RecordRef = notification;
  const key = recordKey(record);
  const row = lookUp(rows.tables, record);
  const writes = onRecord(queue, key);
  const { observedSyncId, currentValues = {} } = notification;
  // Of a record that is not loaded, the rows say nothing. Of an erased one, the report has no values any more.
  const isReported = Object.keys(currentValues).length > 0;
  const isKnown =
    isWithinReach({ rows, models }, key, writes) && !(isReported && isUnseen({ rows, models }, key, writes));
  const seen = isKnown && rows.position !== undefined && rows.position >= observedSyncId;
  const wanted = wantedValues(writes, conflicted, key, models);
  const { mine, base, madeUpTo } = wanted;
  const now = seen ? (row?.data ?? null) : reportedValues(notification);
  const fields = new Set(notification.conflictingFields);
  // Rows that have read further may show more: fields that later writes of this client touch, or that changed since.
  if (seen)
    for (const field of Object.keys(mine))
      if (
        !row ||
        (!jsonEqual(ownValue(row.data, field), ownValue(mine, field)) &&
          (madeUpTo !== undefined || !jsonEqual(ownValue(row.data, field), ownValue(base, field))))
      )
        fields.add(field);
  // Both have it, and none of the answers can change it.
  fields.delete("id");
  const shown = new Set([...fields, ...Object.keys(mine)]);
  return {
    clientTxId: conflicted.clientTxId,
    model: notification.model,
    id: notification.id,
    action: conflicted.operations.find((o) => recordKey(o) === key)?.action ?? "update",
    fields: [...fields],
    ...wanted,
    theirs: now && pick(now, shown),
    writtenBy: notification.writtenBy,
    isPremise: notification.group !== undefined,
    observedSyncId: Math.max(notification.observedSyncId, row?.syncId ?? 0),
    heldAtSyncId: notification.observedSyncId,
    seen,
    claim,
  };
}

type Wanted = Pick<OpenConflict, "mine" | "base" | "wants" | "madeUpTo">;

/**
 * What a conflicted write and the writes after it want of one record, and the value of each field when it was first
 * touched. A field that was absent then has no base: a later write saw this client's own value there.
 */
function wantedValues(writes: readonly Mutation[], conflicted: Mutation, key: string, models: Sides["models"]): Wanted {
  let mine: Record<string, Json> = {};
  let wants: Wanted["wants"] = "changes";
  let madeUpTo: number | undefined;
  const base: Record<string, Json> = {};
  const touched = new Set<string>();
  const seenAfter = conflicted.stage.phase === "conflicted" ? conflicted.stage.conflictedAfter : 0;
  for (const write of writes.slice(writes.indexOf(conflicted)))
    for (const { action, model, id, data, changes, base: seen } of write.operations) {
      if (recordKey({ model, id }) !== key) continue;
      const isWritten = action === "update" || action === "create";
      for (const field of Object.keys(without((isWritten ? data : seen) ?? {}, ["id"]))) {
        const value = ownValue(seen ?? {}, field);
        if (!touched.has(field) && value !== undefined) base[field] = value;
        touched.add(field);
      }
      if (action === "delete" || action === "create") {
        mine = {};
        wants = action === "create" ? "creation" : "deletion";
        // A premise on a record that the write does not touch leaves the record's own writes as they are.
        if (action === "create" && conflicted.keys.includes(key)) madeUpTo = Math.max(seenAfter, positionOf(write));
      }
      // A write to a record that this client has deleted changes nothing.
      if (!isWritten || wants === "deletion") continue;
      Object.assign(mine, without(data ?? {}, ["id"]));
      if (changes && wants === "creation") Object.assign(mine, changedValues(mine, changes, models[tableOf(model)]));
    }
  return { mine, base, wants, madeUpTo };
}

/** Writes that are not on disk yet come last. */
export const positionOf = ({ seq }: Mutation): number => seq ?? Number.POSITIVE_INFINITY;

/** For a deleted record, the server reports all written fields and no values. */
const reportedValues = ({ conflictingFields, currentValues = {} }: StaleNotification): JsonObject | null =>
  conflictingFields.length > 0 && Object.keys(currentValues).length === 0 ? null : (currentValues as JsonObject);

export const pick = (data: JsonObject, fields: Iterable<string>): JsonObject => {
  const picked: Record<string, Json> = {};
  for (const field of fields) {
    const value = ownValue(data, field);
    if (value !== undefined) picked[field] = value;
  }
  return picked;
};

export const without = <T>(data: Readonly<Record<string, T>>, fields: readonly string[]): Record<string, T> =>
  Object.fromEntries(Object.entries(data).filter(([field]) => !fields.includes(field)));
