import type { Json, JsonObject } from "../../../../packages/sdk/src/protocol/json.ts";
import { jsonEqual } from "../../../../packages/sdk/src/protocol/json-equal.ts";
import type { Tab } from "../client/tab.ts";
import { schema } from "../schema.ts";

/** Records by `model/id`; of archived ones the key says so. */
export type Shown = Readonly<Record<string, Json>>;

interface StoredRecord {
  readonly model: string;
  readonly id: string;
  readonly data: JsonObject;
  readonly archivedAt: string | null;
}

export const keyOf = ({ model, id, archivedAt }: StoredRecord): string =>
  `${model}/${id}${archivedAt ? " (archived)" : ""}`;

export const shownByServer = (rows: readonly StoredRecord[]): Shown =>
  Object.fromEntries(rows.map((row) => [keyOf(row), row.data]));

export function shownBy({ client }: Pick<Tab, "client">): Shown {
  const models = Object.keys(schema.models) as (keyof typeof schema.models)[];
  return Object.fromEntries(
    models.flatMap((model) => {
      const listed = client.models[model] as Pick<(typeof client.models)["slide"], "list">;
      return [
        ...listed.list({ archived: "without" }).map((row) => [`${model}/${row.id}`, row]),
        ...listed.list({ archived: "only" }).map((row) => [`${model}/${row.id} (archived)`, row]),
      ];
    }),
  ) as Shown;
}

export function difference(who: string, shown: Shown, expected: Shown): string | undefined {
  for (const key of new Set([...Object.keys(shown), ...Object.keys(expected)]))
    if (!jsonEqual(shown[key], expected[key]))
      return `${who} shows ${key} as ${JSON.stringify(shown[key])}, and not as ${JSON.stringify(expected[key])}`;
  return undefined;
}
