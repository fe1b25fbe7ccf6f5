import {
  comparable,
  type Field,
  type FollowedConditions,
  type FollowedRecords,
  ownValue,
} from "@holdfast/sdk/protocol";
import { type ListColumn, listColumn } from "../../lists/rules/list-column.ts";
import { columnType, type JsonFilter, type ListFilter } from "../../lists/rules/list-filter.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";

/** The records of one model that a reader follows: those that meet all filters of one of these alternatives. */
export type Followed = readonly (readonly FollowedFilter[])[];

type FollowedFilter = ListFilter | JsonFilter;

type Scalar = string | number | boolean | null;
type Operator = "eq" | "in" | "contains" | "gt" | "gte" | "lt" | "lte";

/**
 * The conditions as filters, by model in lower case. Nothing is refused: a push may take a field away, or change its type,
 * while clients follow by it. A field that the schema lacks has no value in any record, and a value of another type than
 * the field's is met by none. A model that is not declared has no records.
 */
export function followedRecords(
  where: FollowedRecords,
  models: ReadonlyMap<string, DeclaredModel>,
): ReadonlyMap<string, Followed> {
  const followed = new Map<string, Followed>();
  for (const [name, wanted] of Object.entries(where)) {
    const declared = models.get(name.toLowerCase());
    if (!declared) continue;
    const alternatives = [wanted].flat().map((one) => filtersOf(one, declared.model.fields));
    followed.set(
      name.toLowerCase(),
      alternatives.filter((filters) => filters !== undefined),
    );
  }
  return followed;
}

/** Undefined: no record can meet them. */
function filtersOf(
  conditions: FollowedConditions,
  fields: Readonly<Record<string, Field>>,
): readonly FollowedFilter[] | undefined {
  const filters: FollowedFilter[] = [];
  for (const [name, condition] of Object.entries(conditions)) {
    const column = columnOf(name, fields);
    const operators = typeof condition === "object" && condition !== null ? condition : { eq: condition };
    for (const [operator, operand] of Object.entries(operators)) {
      const filter = filterOf(column, operator as Operator, operand);
      if (!filter) return undefined;
      filters.push(filter);
    }
  }
  return filters;
}

/** An entry of the log has the record's fields and its id, but not its times. */
function columnOf(name: string, fields: Readonly<Record<string, Field>>): ListColumn {
  const field = ownValue(fields, name);
  if (field?.type === "array" || field?.type === "json") return { kind: "field", name, type: field.type };
  const column = field || name === "id" ? listColumn(name, { fields }) : undefined;
  return column ?? { kind: "field", name, type: "string" };
}

function filterOf(column: ListColumn, operator: Operator, operand: unknown): FollowedFilter | undefined {
  const type = columnType(column);
  if ((type === "array") !== (operator === "contains")) return undefined;
  if (type === "json") return jsonFilter(column, operator, operand);
  switch (operator) {
    case "contains":
      return { column, operator, value: operand as Scalar, json: [JSON.stringify(operand)] };
    case "in":
      return { column, operator, values: (operand as Scalar[]).filter((value) => value === null || isOf(type, value)) };
    case "eq": {
      const value = operand as Scalar;
      if (value === null) return { column, operator: "null", value: true };
      return isOf(type, value) ? { column, operator, value } : undefined;
    }
    default: {
      const value = operand as string | number;
      return RANGED.has(type) && isOf(type, value) ? { column, operator, value } : undefined;
    }
  }
}

/** Any value is one of the type json, so that equal JSON is meant. */
const jsonFilter = (column: ListColumn, operator: Operator, operand: unknown): JsonFilter | undefined =>
  operator === "eq" || operator === "in"
    ? { column, operator: "jsonIn", values: [operand].flat().map((value) => JSON.stringify(value)) }
    : undefined;

/** Text has no ranges here: few readers need them, and its order in the database is not that of JavaScript. */
const RANGED: ReadonlySet<Field["type"]> = new Set(["number", "integer", "datetime"]);

const isOf = (type: Field["type"], value: Scalar): boolean => comparable(type, value) !== undefined;
