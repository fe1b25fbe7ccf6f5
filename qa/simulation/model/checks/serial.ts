import type { Json, JsonObject } from "../../../../packages/sdk/src/protocol/json.ts";
import { schema } from "../schema.ts";
import type { Accepted } from "../server/service.ts";

/**
 * The oracle: applies the accepted commits to nothing, one after the other, without a log, without staleness and
 * without a line of the code that is under test.
 */
export function replayed(accepted: readonly Accepted[]): Readonly<Record<string, Json>> {
  const rows = new Map<string, { data: JsonObject; archived: boolean }>();
  for (const { operations } of accepted)
    for (const { action, model, id, data } of operations) {
      const key = `${model}/${id}`;
      const row = rows.get(key);
      // Of a record that is there the server takes a create only when it says nothing new.
      if (row && action === "create") continue;
      if (action === "create")
        rows.set(key, { data: { ...defaultsOf(model), ...data, id } as JsonObject, archived: false });
      else if (action === "delete") rows.delete(key);
      else if (action === "update" && row) row.data = { ...row.data, ...data } as JsonObject;
      else if (row) row.archived = action === "archive";
    }
  return Object.fromEntries(
    [...rows].map(([key, { data, archived }]) => [`${key}${archived ? " (archived)" : ""}`, data]),
  );
}

function defaultsOf(model: string): JsonObject {
  const { fields } = schema.models[model as keyof typeof schema.models];
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => ("default" in field ? [[name, field.default as Json]] : [])),
  );
}
