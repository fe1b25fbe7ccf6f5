import type { Scope } from "../../core/log/rows.ts";
import { scopeOf } from "../../core/log/scope-key.ts";
import { tableOf } from "../../core/log/tables.ts";
import { rowsStatus, type SyncStatus } from "../../core/select.ts";
import type { ClientState } from "../../core/state.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { relationsOf } from "../../protocol/schema/relations.ts";
import { type Conditions, compileConditions } from "./conditions.ts";
import type { AnyQuery } from "./list-query.ts";
import { valuesOf } from "./value-indexes.ts";

type Models = ClientState["models"];

/**
 * What is known of a query's records. A client may have some parts of a model only: then it has all that a query can
 * match if the query asks for what one of the parts has.
 */
export function queryStatus(state: ClientState, model: string, query: AnyQuery): SyncStatus["rows"] {
  const { models, rows, scope } = state;
  const known = rowsStatus(state);
  if (known === "loading" || isWithin(scopeOf(rows.scope), models, model, query)) return known;
  // Its part is on its way, for the first time.
  return isWithin(scope, models, model, query) ? "loading" : "partial";
}

/** Whether the scope has everything that the query can match, and what it includes. */
function isWithin(scope: Scope, models: Models, model: string, { where = {}, include = {} }: AnyQuery): boolean {
  const table = tableOf(model);
  if (scope.models && !scope.models.some((name) => tableOf(name) === table)) return false;
  const parts = Object.entries(scope.where ?? {}).find(([name]) => tableOf(name) === table)?.[1];
  // One condition is what the app follows of the model at all times; a list are parts that come and go.
  if (Array.isArray(parts) && !parts.some((part) => isAskedFor(where, part, model, models[table]))) return false;
  const relations = relationsOf(models, model);
  return Object.entries(include).every(([name, wanted]) => {
    const other = relations.get(name)?.model;
    // Which records are included depends on the rows, so that no condition says it.
    return (
      other === undefined || !wanted || isWithin(scope, models, other, wanted === true ? {} : { ...wanted, where: {} })
    );
  });
}

/** Whether each record that meets the query meets the part's conditions. */
function isAskedFor(where: Conditions, part: FollowedConditions, model: string, schema: Model | undefined): boolean {
  return Object.entries(part).every(([field, wanted]) => {
    const meets = compileConditions(model, schema, { [field]: wanted });
    return askedOf(where, field, schema).some((asked) => {
      const values = valuesOf(asked);
      if (values)
        return values.every((value) =>
          meets({ [field]: value instanceof Date ? value.toJSON() : value } as JsonObject),
        );
      return (
        isObject(wanted) &&
        isObject(asked) &&
        Object.entries(wanted).every(([operator, operand]) => isEqual(asked[operator], operand))
      );
    });
  });
}

/** What the query asks of a field in any case. */
function askedOf(where: Conditions, field: string, schema: Model | undefined): unknown[] {
  const { and } = where;
  const further = Array.isArray(and) && !schema?.fields.and ? (and as Conditions[]) : [];
  return [
    ...(Object.hasOwn(where, field) ? [where[field]] : []),
    ...further.flatMap((one) => askedOf(one, field, schema)),
  ];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !(value instanceof Date);

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
