import { type Field, ownValue } from "@holdfast/sdk/protocol";
import type { ListFilter } from "../../lists/rules/list-filter.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import type { Followed } from "./followed-records.ts";

/**
 * Filters that every record in one of these groups meets, by model in lower case, so that a read of some groups need not
 * look at all records: those of the fields that name the groups. Records that meet them are not all in the groups. A
 * model is absent if it has such a field without an index: then the filters would only cost time.
 */
export function filedRecords(
  groups: readonly string[],
  models: ReadonlyMap<string, DeclaredModel>,
): ReadonlyMap<string, Followed> {
  const filed = new Map<string, Followed>();
  for (const [name, { model }] of models) {
    const alternatives = (model.groups ?? []).flatMap(({ kind, from }) => {
      const values = groups.flatMap((group) => (group.startsWith(`${kind}:`) ? [group.slice(kind.length + 1)] : []));
      return values.length === 0 ? [] : [filterOf(from, ownValue(model.fields, from), values)];
    });
    if (alternatives.every((filter) => filter !== undefined))
      filed.set(
        name,
        alternatives.map((filter) => [filter]),
      );
  }
  return filed;
}

/** Undefined: no index has its values as they are in a group's name. */
function filterOf(name: string, field: Field | undefined, values: readonly string[]): ListFilter | undefined {
  if (name === "id") return { column: { kind: "id" }, operator: "in", values };
  if (field?.index !== true || !NAMED_AS_THEY_ARE.has(field.type)) return undefined;
  return { column: { kind: "field", name, type: field.type }, operator: "in", values };
}

const NAMED_AS_THEY_ARE: ReadonlySet<Field["type"]> = new Set(["string", "enum"]);

/** Records that meet both. Absent: all of the model's records. */
export function bothOf(
  some: ReadonlyMap<string, Followed>,
  others: ReadonlyMap<string, Followed>,
): ReadonlyMap<string, Followed> {
  const both = new Map(some);
  for (const [model, alternatives] of others)
    both.set(
      model,
      some.get(model)?.flatMap((filters) => alternatives.map((more) => [...filters, ...more])) ?? alternatives,
    );
  return both;
}
