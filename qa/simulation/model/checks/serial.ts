import type { Json, JsonObject } from "../../../../packages/sdk/src/protocol/json.ts";
import type { Field } from "../../../../packages/sdk/src/protocol/schema/model-schema.ts";
import { schema } from "../schema.ts";
import type { Accepted } from "../server/service.ts";

/**
 * The oracle: applies the accepted commits to nothing, one after the other, without a log, without staleness and
 * without a line of the code that is under test.
 */
export function replayed(accepted: readonly Accepted[]): Readonly<Record<string, Json>> {
  const rows: Rows = new Map();
  for (const { operations } of accepted) {
    const before = new Set(rows.keys());
    for (const { action, model, id, data, changes } of operations) {
      const key = `${model}/${id}`;
      const row = rows.get(key);
      // Of a record that is there the server takes a create only when it says nothing new.
      if (row && action === "create") continue;
      if (action === "create")
        rows.set(key, { data: { ...defaultsOf(model), ...data, id } as JsonObject, archived: false });
      else if (action === "delete") rows.delete(key);
      else if (action === "update" && row)
        row.data = { ...row.data, ...data, ...changed(row.data, changes) } as JsonObject;
      else if (row) row.archived = action === "archive";
    }
    for (const key of before) if (!rows.has(key)) deleteFrom(rows, key);
  }
  return Object.fromEntries(
    [...rows].map(([key, { data, archived }]) => [`${key}${archived ? " (archived)" : ""}`, data]),
  );
}

type Rows = Map<string, { data: JsonObject; archived: boolean }>;

/** What `onDelete` makes of the records that reference one that is gone. */
function deleteFrom(rows: Rows, gone: string): void {
  for (const [key, row] of [...rows]) {
    const [model = ""] = key.split("/");
    for (const [name, { references, onDelete }] of Object.entries<Field>(fieldsOf(model))) {
      if (`${references}/${row.data[name]}` !== gone) continue;
      if (onDelete === "setNull") row.data = { ...row.data, [name]: null };
      if (onDelete === "cascade" && rows.delete(key)) deleteFrom(rows, key);
    }
  }
}

/** What must not be in the records that a server has: a unique value twice, or a checked reference to nothing. */
export function wrongValue(shown: Readonly<Record<string, Json>>): string | undefined {
  const keys = new Set(Object.keys(shown).map((key) => key.replace(" (archived)", "")));
  const taken = new Map<string, string>();
  for (const [key, data] of Object.entries(shown) as [string, JsonObject][])
    for (const [name, { references, onDelete, unique }] of Object.entries<Field>(
      fieldsOf(key.split("/")[0] as string),
    )) {
      const value = data[name] ?? null;
      if (value === null) continue;
      const other = unique && taken.get(`${name} ${value}`);
      if (other) return `${key} and ${other} both have the ${name} ${value}`;
      if (unique) taken.set(`${name} ${value}`, key);
      if (onDelete && !keys.has(`${references}/${value}`))
        return `${key} names the ${references} ${value}, which is gone`;
    }
  return undefined;
}

const fieldsOf = (model: string) => schema.models[model as keyof typeof schema.models].fields;

function changed(data: JsonObject, changes: Accepted["operations"][number]["changes"] = {}): JsonObject {
  const values: Record<string, Json> = {};
  for (const [name, change] of Object.entries(changes)) {
    const { increment, add = [], remove = [] } = change as { increment?: number; add?: Json[]; remove?: Json[] };
    if (increment !== undefined) {
      values[name] = Number(data[name] ?? 0) + increment;
      continue;
    }
    const items = ((data[name] ?? []) as Json[]).filter((item) => !remove.includes(item));
    for (const item of add) if (!items.includes(item)) items.push(item);
    // To remove from nothing is to do nothing.
    if (items.length > 0 || data[name] !== undefined) values[name] = items;
  }
  return values;
}

function defaultsOf(model: string): JsonObject {
  return Object.fromEntries(
    Object.entries(fieldsOf(model)).flatMap(([name, field]) =>
      "default" in field ? [[name, field.default as Json]] : [],
    ),
  );
}
