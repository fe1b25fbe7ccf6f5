import type { Action } from "../../protocol/commits/operation.ts";
import type { StaleNotification } from "../../protocol/commits/stale.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../json-equal.ts";
import type { Rows } from "../log/rows.ts";
import { lookUp, type RecordRef, recordKey } from "../log/tables.ts";
import type { ClaimRefusal, Mutation } from "../queue/mutation.ts";
import { onRecord, type Queue } from "../queue/queue.ts";

/** A held write against what others did to one of its records: the three sides that a person decides between. */
export interface OpenConflict {
  readonly clientTxId: string;
  readonly model: string;
  readonly id: string;
  readonly action: Action;
  /** Fields that both sides wrote. */
  readonly fields: readonly string[];
  /** Everything that this client wants to write to the record, its later writes included. */
  readonly mine: JsonObject;
  readonly base: JsonObject;
  /** Null: the record was deleted. */
  readonly theirs: JsonObject | null;
  readonly writtenBy: string;
  /** It is a group that moved: the commit stood on it, whatever it wrote itself. */
  readonly isPremise: boolean;
  /** The newest of their entries that `theirs` contains. */
  readonly observedSyncId: number;
  /** That of them at which the write was held. */
  readonly heldAtSyncId: number;
  /** Whether our rows have read as far as the server had when it held the write: then `theirs` is all there is to see. */
  readonly seen: boolean;
  /** Set when it was a claim that stood against it, not a newer write. */
  readonly claim: ClaimRefusal | undefined;
}

interface Sides {
  readonly rows: Rows;
  readonly queue: Queue;
}

/** One dispute for each notification of a held write. */
export function openConflictsOf(sides: Sides, held: Mutation): readonly OpenConflict[] {
  if (held.stage.phase !== "held") return [];
  const { notifications, claim } = held.stage;
  return notifications.map((notification) => openConflictOf(sides, held, notification, claim));
}

/** The dispute about a record, if a write to it is held. */
export function openConflictOn(sides: Sides, held: Mutation, key: string): OpenConflict | undefined {
  if (held.stage.phase !== "held" || !held.keys.includes(key)) return undefined;
  const notification = held.stage.notifications.find((n) => n.group === undefined && recordKey(n) === key);
  return notification && openConflictOf(sides, held, notification, held.stage.claim);
}

function openConflictOf(
  { rows, queue }: Sides,
  held: Mutation,
  notification: StaleNotification,
  claim: ClaimRefusal | undefined,
): OpenConflict {
  const record: RecordRef = notification;
  const key = recordKey(record);
  const row = lookUp(rows.tables, record);
  const seen = rows.position !== undefined && rows.position >= notification.observedSyncId;
  const { mine, base } = wishes(onRecord(queue, key), held, key);
  const told = notification.currentValues as JsonObject;
  const now = seen ? (row?.data ?? null) : toldValues(notification);
  const fields = new Set(notification.conflictingFields);
  // Rows that have read on may know of more: fields that this client's later writes touch, or that moved since.
  if (seen)
    for (const field of Object.keys(mine))
      if (!row || (!jsonEqual(row.data[field], base[field]) && !jsonEqual(row.data[field], mine[field])))
        fields.add(field);
  const shown = new Set([...fields, ...Object.keys(mine)]);
  return {
    clientTxId: held.clientTxId,
    model: notification.model,
    id: notification.id,
    action: held.operations.find((o) => recordKey(o) === key)?.action ?? "update",
    fields: [...fields],
    mine,
    base,
    theirs: now && pick({ ...told, ...now }, shown),
    writtenBy: notification.writtenBy,
    isPremise: notification.group !== undefined,
    observedSyncId: Math.max(notification.observedSyncId, row?.syncId ?? 0),
    heldAtSyncId: notification.observedSyncId,
    seen,
    claim,
  };
}

/**
 * What a held write and those after it want of one record, and what stood there when each field was first touched. A
 * field that was absent then has no base: what a later write saw there is this client's own.
 */
function wishes(writes: readonly Mutation[], held: Mutation, key: string): { mine: JsonObject; base: JsonObject } {
  const mine: Record<string, Json> = {};
  const base: Record<string, Json> = {};
  const touched = new Set<string>();
  for (const write of writes.slice(writes.indexOf(held)))
    for (const operation of write.operations) {
      if (recordKey(operation) !== key) continue;
      const seen = operation.base ?? {};
      for (const field of Object.keys((operation.action === "update" ? operation.data : seen) ?? {})) {
        const value = seen[field];
        if (!touched.has(field) && value !== undefined) base[field] = value;
        touched.add(field);
      }
      if (operation.action === "update") Object.assign(mine, operation.data);
    }
  return { mine, base };
}

/** A deleted record is told as "all written fields, no values". */
const toldValues = ({ conflictingFields, currentValues }: StaleNotification): JsonObject | null =>
  conflictingFields.length > 0 && Object.keys(currentValues).length === 0 ? null : (currentValues as JsonObject);

export const pick = (data: JsonObject, fields: Iterable<string>): JsonObject => {
  const picked: Record<string, Json> = {};
  for (const field of fields) {
    const value = data[field];
    if (value !== undefined) picked[field] = value;
  }
  return picked;
};

export const without = (data: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([field]) => !fields.includes(field)));
