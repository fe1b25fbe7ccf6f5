import type { JsonObject } from "../json.ts";
import type { Model } from "../schema/model-schema.ts";
import type { Action } from "./operation.ts";

/** A record as both sides keep it: `data` begins with `id`. */
export interface Row {
  readonly data: JsonObject;
  readonly archivedAt: string | null;
}

export interface WriteStep {
  readonly action: Action;
  readonly id: string;
  readonly data?: JsonObject | undefined;
}

/**
 * The one meaning of a write, run by the server when it decides and by the client when it shows a write early.
 * A write to a record that is not there leaves it absent. `model` gives the defaults of a create.
 */
export function applyOperation(
  row: Row | undefined,
  step: WriteStep,
  model: Model | undefined,
  now: string,
): Row | undefined {
  switch (step.action) {
    case "create":
      return { data: newData(step.id, step.data ?? {}, model), archivedAt: null };
    case "update":
      return row && { data: { ...row.data, ...step.data, id: step.id }, archivedAt: row.archivedAt };
    case "delete":
      return undefined;
    case "archive":
      return row && { data: row.data, archivedAt: row.archivedAt ?? now };
    case "unarchive":
      return row && { data: row.data, archivedAt: null };
  }
}

/** A new record's data: the id first, then what was sent, then the defaults of what was not. */
function newData(id: string, sent: JsonObject, model: Model | undefined): JsonObject {
  const data: Record<string, JsonObject[string]> = { id, ...sent };
  for (const [name, field] of Object.entries(model?.fields ?? {}))
    if (field.default !== undefined && !Object.hasOwn(data, name)) data[name] = field.default as JsonObject[string];
  data.id = id;
  return data;
}
