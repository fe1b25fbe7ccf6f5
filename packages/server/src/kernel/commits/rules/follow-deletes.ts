import { type Json, ownValue } from "@holdfast/sdk/protocol";
import { type CommitOperation, recordKey } from "./commit-request.ts";
import { type NamedRecord, type NamedValue, noteMissing } from "./record-values.ts";
import type { RecordState, TenantState } from "./tenant-state.ts";
import { holdersOf, type Records, recordOf, referencesTo } from "./value-holders.ts";

/** The most records that a commit changes because they reference deleted ones. */
export const MOST_DEPENDENTS = 1_000;

/** A record that references one that is deleted, and what becomes of it. */
export interface Dependent {
  readonly operation: CommitOperation;
  readonly before: RecordState;
}

/** A reference that does not allow that its record is deleted. */
export interface Restriction {
  readonly value: NamedValue;
  readonly target: NamedRecord;
}

export interface Dependents {
  readonly changes: readonly Dependent[];
  readonly restrictions: readonly Restriction[];
  /** The values of further records did not fit into memory. */
  readonly isTooLarge: boolean;
}

/**
 * What becomes of the records that reference deleted ones. As with a database's foreign keys it does not matter who may
 * write or see them, nor what the deleter has read of them. Records that are not loaded yet are noted as missing.
 */
export function dependentsOf(state: TenantState, records: Records, gone: readonly NamedRecord[]): Dependents {
  const restrictions: Restriction[] = [];
  const found = new Map<string, Found>();
  for (const target of gone)
    for (const value of referencesTo(state.values, target)) {
      const { onDelete, field } = value.declared;
      if (onDelete === "restrict") restrictions.push({ value, target });
      if (onDelete !== "cascade" && onDelete !== "setNull") continue;
      for (const id of keepers(state, records, value)) {
        const key = recordKey(value.model, id);
        const one = found.get(key) ?? { model: value.model, id, isDeleted: false, left: new Map() };
        found.set(key, one);
        if (onDelete === "cascade") one.isDeleted = true;
        else one.left.set(field, [...(one.left.get(field) ?? []), target.id]);
      }
    }
  const { missing, isFull } = state.values;
  const changes: Dependent[] = [];
  let isTooLarge = false;
  for (const [key, one] of found) {
    const before = recordOf(state, records, one);
    const isRead = before && (one.isDeleted || before.bytes !== "not read");
    if (isRead) changes.push({ operation: operationOf(one, before), before });
    else if (isFull) isTooLarge = true;
    else noteMissing(missing, missing.records, key, { model: one.model, id: one.id });
  }
  return { changes, restrictions, isTooLarge };
}

/**
 * The records that had a value before the commit, and still have it. One that the commit itself gives it names a record
 * that the commit deletes, which is refused.
 */
function keepers(state: TenantState, records: Records, value: NamedValue): readonly string[] {
  const before = new Set(holdersOf(state, NOTHING, value));
  return holdersOf(state, records, value).filter((id) => before.has(id));
}

const NOTHING: Records = new Map();

interface Found extends NamedRecord {
  isDeleted: boolean;
  /** By field: the ids that it loses. */
  readonly left: Map<string, string[]>;
}

/** The values of a record that is deleted may not have been read. */
function operationOf({ model, id, isDeleted, left }: Found, before: RecordState): CommitOperation {
  if (isDeleted) return { action: "delete", model, id };
  const values = [...left].map(([field, ids]): [string, Json] => [
    field,
    without(ownValue(before.data, field) ?? null, ids),
  ]);
  return { action: "update", model, id, data: Object.fromEntries(values) };
}

const without = (value: Json, ids: readonly string[]): Json =>
  Array.isArray(value) ? value.filter((item) => typeof item !== "string" || !ids.includes(item)) : null;

/** The records that still hold one that is deleted. */
export const stillReferencing = (
  state: TenantState,
  records: Records,
  restrictions: readonly Restriction[],
): readonly NamedRecord[] =>
  restrictions
    .filter(({ target }) => recordOf(state, records, target) === null)
    .flatMap(({ value }) => holdersOf(state, records, value).map((id) => ({ model: value.model, id })));
