import type { Scope } from "../core/log/rows.ts";
import { tableOf } from "../core/log/tables.ts";
import type { ClientState } from "../core/state.ts";
import { jsonProblem } from "../protocol/json-problem.ts";
import type { FollowedRecords } from "../protocol/log/followed-records.ts";
import { fits } from "../protocol/schema/field-value.ts";
import type { Field, Model, ModelSchema } from "../protocol/schema/model-schema.ts";
import type { DataOf, ModelName } from "../protocol/schema/row-types.ts";
import type { Operators } from "./lists/query.ts";
import { checkKeys, checkObject, fieldOf, mustBe } from "./lists/query-error.ts";
import { copyOf } from "./lists/shown-rows.ts";
import { checkModel } from "./writes/check-model.ts";

/** Which records a client reads. An absent member does not limit it. */
export interface FollowScope<S extends ModelSchema> {
  readonly models?: readonly ModelName<S>[] | undefined;
  /** Sync groups, `<kind>:<id>`: records in one of them. */
  readonly groups?: readonly string[] | undefined;
  /** By model: only records that meet these conditions. A list: those of at least one of its conditions. */
  readonly where?:
    | {
        readonly [M in ModelName<S>]?: FollowedWhere<DataOf<S, M>> | readonly FollowedWhere<DataOf<S, M>>[] | undefined;
      }
    | undefined;
}

/** What a server can judge entry by entry: values, ranges of numbers and date-times, and items of arrays. */
export type FollowedWhere<Row> = {
  readonly [F in keyof Row]?:
    | Row[F]
    | null
    | (Pick<Operators<NonNullable<Row[F]>>, "gt" | "gte" | "lt" | "lte" | "contains"> & {
        readonly in?: readonly (Row[F] | null)[];
      });
};

/** Checks a scope against the schema. Throws for an unknown model or field. */
export function followedScope<S extends ModelSchema>(
  schema: ClientState["models"],
  scope: FollowScope<S> | Scope,
): Scope {
  checkKeys(scope, ["models", "groups", "where"], "follow");
  const { models, groups, where } = scope;
  for (const model of models ?? []) checkModel(schema, model);
  // One that is undefined limits nothing, and the copy is without it.
  for (const [model, conditions = {}] of Object.entries(where ?? {})) {
    checkModel(schema, model);
    for (const one of [conditions].flat()) checkConditions(model, schema[tableOf(model)], one as object);
  }
  return {
    ...(models && { models }),
    ...(groups && { groups }),
    ...(where && { where: copyOf(where) as FollowedRecords }),
  };
}

/** Throws for what the server would not take, or what no record can meet. */
function checkConditions(model: string, schema: Model | undefined, conditions: object): void {
  checkObject(conditions, "where");
  for (const [name, condition] of Object.entries(conditions)) {
    const at = `where.${name}`;
    const field = fieldOf(model, schema, name, at);
    const operators = Object.entries(typeof condition === "object" && condition ? condition : { eq: condition });
    const isTaken = operators.length > 0 && operators.every(([operator, operand]) => takes(field, operator, operand));
    if (name[0] === "$" || !isTaken || jsonProblem(condition))
      throw mustBe(at, "a value, in, contains of an array, or a range", condition);
  }
}

const RANGED = ["datetime", "number", "integer"];
const MOST_VALUES = 100;

function takes(field: Field, operator: string, operand: unknown): boolean {
  const { type } = field;
  if (type === "array") return operator === "contains" && typeof operand === "string";
  const values = operator === "in" ? operand : [operand];
  const isRange = RANGED.includes(type) && /^[gl]te?$/.test(operator);
  return (
    (isRange || operator === "eq" || operator === "in") &&
    type !== "json" &&
    Array.isArray(values) &&
    values.length <= MOST_VALUES &&
    values.every((value) => (value === null ? !isRange : fits(field, value)))
  );
}
