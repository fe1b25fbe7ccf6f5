import { type Model, ownValue } from "@holdfast/sdk/protocol";
import { conditionsIn, type ListCondition } from "./list-filter.ts";
import type { ListOrder } from "./list-order.ts";

/** Why a list may have taken too long: the fields that it uses and that have no index. Undefined if all have one. */
export function slowListMessage(
  name: string,
  model: Model,
  { keys }: ListOrder,
  filters: readonly ListCondition[],
): string | undefined {
  const columns = [
    ...keys.map(({ column }) => column),
    ...conditionsIn(filters).flatMap((filter) => ("column" in filter ? [filter.column] : [])),
  ];
  const fields = columns.flatMap((column) => ("name" in column ? [column.name] : []));
  const missing = [...new Set(fields)].filter((field) => (ownValue(model.fields, field)?.index ?? false) === false);
  if (missing.length === 0) return undefined;
  const named = missing.map((field) => `${name}.${field}`).join(" and ");
  return `The list took too long. Lists by ${named} have no index: set "index": true for the field in the schema.`;
}
