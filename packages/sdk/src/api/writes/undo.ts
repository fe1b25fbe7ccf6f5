import { recordKey, tableOf } from "../../core/log/tables.ts";
import type { Action } from "../../protocol/commits/action.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import { type FieldChange, type FieldChanges, isIncrement } from "../../protocol/commits/field-change.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { fits } from "../../protocol/schema/field-value.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import type { OperationRequest } from "./write-api.ts";

interface Named {
  readonly model: string;
  readonly id: string;
}

interface Operation extends Named {
  readonly action: Action;
  readonly data?: JsonObject | undefined;
  readonly changes?: FieldChanges | undefined;
}

export interface Written {
  readonly operations: readonly Operation[];
  /** What its changes did is not there. */
  readonly isGone: boolean;
  /** The record as it was shown before the write. */
  before(record: Named): Row | undefined;
  /** The record as it is shown now. */
  now(record: Named): Row | undefined;
  readonly models: Readonly<Record<string, Model>>;
}

/**
 * The operations that make the written records what they were before the write. Of a changed record, only what the
 * write has changed; what others have changed since in other fields stays. None, if there is nothing to undo.
 */
export function undoOf({ operations, isGone, before, now, models }: Written): OperationRequest[] {
  const byRecord = new Map<string, Operation[]>();
  for (const one of operations) byRecord.set(recordKey(one), [...(byRecord.get(recordKey(one)) ?? []), one]);
  return [...byRecord.values()].flatMap((own): OperationRequest[] => {
    const [{ model, id } = { model: "", id: "" }] = own;
    const fields = models[tableOf(model)]?.fields ?? {};
    const [was, is] = [before({ model, id }), now({ model, id })];
    if (!was) return is ? [{ action: "delete", model, id }] : [];
    const archive = { action: was.archivedAt === null ? "unarchive" : "archive", model, id } as const;
    if (!is) {
      const data = Object.fromEntries(
        Object.entries(was.data).filter(([name, value]) => {
          const field = fields[name];
          return field !== undefined && fits(field, value);
        }),
      );
      return [{ action: "create", model, id, data }, ...(was.archivedAt === null ? [] : [archive])];
    }
    const isArchiving = own.some(({ action }) => action === "archive" || action === "unarchive");
    const names = new Set(own.flatMap(({ data = {} }) => Object.keys(data)));
    const changed = [...names].filter(
      (name) => !jsonEqual(ownValue(was.data, name) ?? null, ownValue(is.data, name) ?? null),
    );
    // A field that cannot be empty again stays as it is.
    const data = Object.fromEntries(
      changed.flatMap((name) => {
        const field = fields[name];
        const value = ownValue(was.data, name) ?? null;
        return field && fits(field, value) ? [[name, value]] : [];
      }),
    );
    const changes = isGone ? {} : undoneChanges(own, names, was.data, is.data);
    const isUpdated = Object.keys({ ...data, ...changes }).length > 0;
    return [
      ...(isUpdated ? [{ action: "update", model, id, data, changes } as const] : []),
      ...(isArchiving && (was.archivedAt === null) !== (is.archivedAt === null) ? [archive] : []),
    ];
  });
}

/** Takes back what changes did, and nothing that others have done to the same values. */
function undoneChanges(
  operations: readonly Operation[],
  written: ReadonlySet<string>,
  was: JsonObject,
  is: JsonObject,
): FieldChanges {
  const undone = new Map<string, FieldChange>();
  for (const [name, change] of operations.flatMap(({ changes = {} }) => Object.entries(changes))) {
    if (written.has(name)) continue;
    const before = undone.get(name);
    if (isIncrement(change)) {
      const sum = change.increment - (before && isIncrement(before) ? before.increment : 0);
      undone.set(name, { increment: -sum });
      continue;
    }
    const had = new Set(itemsOf(ownValue(was, name)));
    const has = new Set(itemsOf(ownValue(is, name)));
    const { add: added = [], remove: removed = [] } = change;
    const earlier = before && !isIncrement(before) ? before : {};
    const gone = [...(earlier.remove ?? []), ...added.filter((item) => !had.has(item) && has.has(item))];
    const back = [...(earlier.add ?? []), ...removed.filter((item) => had.has(item) && !has.has(item))];
    undone.set(name, { ...(back.length > 0 && { add: back }), ...(gone.length > 0 && { remove: gone }) });
  }
  return Object.fromEntries(
    [...undone].filter(([, change]) => (isIncrement(change) ? change.increment !== 0 : Object.keys(change).length > 0)),
  );
}

const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
