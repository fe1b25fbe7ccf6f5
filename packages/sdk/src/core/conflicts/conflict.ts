import type { Action } from "../../protocol/commits/action.ts";
import type { StaleNotification } from "../../protocol/commits/stale.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Rows } from "../log/rows.ts";
import { lookUp, type RecordRef, recordKey } from "../log/tables.ts";
import type { ClaimRefusal, Mutation } from "../queue/mutation.ts";
import { onRecord, type Queue } from "../queue/queue.ts";

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

interface Sides {
  readonly rows: Rows;
  readonly queue: Queue;
}

/** One conflict for each notification of a conflicted write. */
export function openConflictsOf(sides: Sides, conflicted: Mutation): readonly OpenConflict[] {
  if (conflicted.stage.phase !== "conflicted") return [];
  const { notifications, claim } = conflicted.stage;
  return notifications.map((notification) => openConflictOf(sides, conflicted, notification, claim));
}

/** The conflict on one record, if a write to it is conflicted. */
export function openConflictOn(sides: Sides, conflicted: Mutation, key: string): OpenConflict | undefined {
  if (conflicted.stage.phase !== "conflicted" || !conflicted.keys.includes(key)) return undefined;
  const notification = conflicted.stage.notifications.find((n) => n.group === undefined && recordKey(n) === key);
  return notification && openConflictOf(sides, conflicted, notification, conflicted.stage.claim);
}

function openConflictOf(
  { rows, queue }: Sides,
  conflicted: Mutation,
  notification: StaleNotification,
  claim: ClaimRefusal | undefined,
): OpenConflict {
  const record: RecordRef = notification;
  const key = recordKey(record);
  const row = lookUp(rows.tables, record);
  const seen = rows.position !== undefined && rows.position >= notification.observedSyncId;
  const { mine, base } = wantedValues(onRecord(queue, key), conflicted, key);
  const reported = (notification.currentValues ?? {}) as JsonObject;
  const now = seen ? (row?.data ?? null) : reportedValues(notification);
  const fields = new Set(notification.conflictingFields);
  // Rows that have read further may show more: fields that later writes of this client touch, or that changed since.
  if (seen)
    for (const field of Object.keys(mine))
      if (
        !row ||
        (!jsonEqual(ownValue(row.data, field), ownValue(base, field)) &&
          !jsonEqual(ownValue(row.data, field), ownValue(mine, field)))
      )
        fields.add(field);
  const shown = new Set([...fields, ...Object.keys(mine)]);
  return {
    clientTxId: conflicted.clientTxId,
    model: notification.model,
    id: notification.id,
    action: conflicted.operations.find((o) => recordKey(o) === key)?.action ?? "update",
    fields: [...fields],
    mine,
    base,
    theirs: now && pick({ ...reported, ...now }, shown),
    writtenBy: notification.writtenBy,
    isPremise: notification.group !== undefined,
    observedSyncId: Math.max(notification.observedSyncId, row?.syncId ?? 0),
    heldAtSyncId: notification.observedSyncId,
    seen,
    claim,
  };
}

/**
 * What a conflicted write and the writes after it want of one record, and the value of each field when it was first
 * touched. A field that was absent then has no base: a later write saw this client's own value there.
 */
function wantedValues(
  writes: readonly Mutation[],
  conflicted: Mutation,
  key: string,
): { mine: JsonObject; base: JsonObject } {
  const mine: Record<string, Json> = {};
  const base: Record<string, Json> = {};
  const touched = new Set<string>();
  for (const write of writes.slice(writes.indexOf(conflicted)))
    for (const operation of write.operations) {
      if (recordKey(operation) !== key) continue;
      const seen = operation.base ?? {};
      for (const field of Object.keys((operation.action === "update" ? operation.data : seen) ?? {})) {
        const value = ownValue(seen, field);
        if (!touched.has(field) && value !== undefined) base[field] = value;
        touched.add(field);
      }
      if (operation.action === "update") Object.assign(mine, operation.data);
    }
  return { mine, base };
}

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
