import type { Json, JsonObject } from "../json.ts";
import { isFilledByServer } from "../schema/field-value.ts";
import type { Field, Model } from "../schema/model-schema.ts";
import type { Action } from "./action.ts";
import { changedValues, type FieldChanges } from "./field-change.ts";

/** A record as both sides keep it: `data` begins with `id`. */
export interface Row {
  readonly data: JsonObject;
  readonly archivedAt: string | null;
}

export interface WriteStep {
  readonly action: Action;
  readonly id: string;
  readonly data?: JsonObject | undefined;
  readonly changes?: FieldChanges | undefined;
}

/** When a write happens, and whose it is. */
export interface Moment {
  readonly now: string;
  /** `<kind>:<id>` of the writer. Undefined: it is not known yet. */
  readonly by: string | undefined;
}

/**
 * The one meaning of a write, run by the server when it decides and by the client when it shows a write early.
 * A write to a record that is not there leaves it absent. `model` gives the defaults of a create.
 */
export function applyOperation(
  row: Row | undefined,
  step: WriteStep,
  model: Model | undefined,
  moment: Moment,
): Row | undefined {
  switch (step.action) {
    case "create":
      return { data: newData(step.id, step.data ?? {}, model, moment), archivedAt: null };
    case "update":
      return row && { data: updatedData(row.data, step, model), archivedAt: row.archivedAt };
    case "delete":
      return undefined;
    case "archive":
      return row && { data: row.data, archivedAt: row.archivedAt ?? moment.now };
    case "unarchive":
      return row && { data: row.data, archivedAt: null };
  }
}

function updatedData(
  data: JsonObject,
  { id, data: written, changes }: WriteStep,
  model: Model | undefined,
): JsonObject {
  return { ...data, ...written, ...(changes && changedValues(data, changes, model)), id };
}

/** A new record's data: the id first, then what was sent, then the defaults of what was not. */
function newData(id: string, sent: JsonObject, model: Model | undefined, moment: Moment): JsonObject {
  const data: Record<string, Json> = { id, ...sent };
  for (const [name, field] of Object.entries(model?.fields ?? {})) {
    const value = Object.hasOwn(data, name) ? undefined : defaultOf(field, moment);
    if (value !== undefined) data[name] = value;
  }
  data.id = id;
  return data;
}

const defaultOf = (field: Field, { now, by }: Moment): Json | undefined =>
  isFilledByServer(field) ? (field.type === "string" ? by : now) : (field.default as Json | undefined);
