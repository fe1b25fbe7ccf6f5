import { conditionsOn, followsModel } from "../../core/log/followed.ts";
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
  if (!followsModel(scope, model)) return false;
  const parts = conditionsOn(scope, model);
  // One condition is what the app follows of the model at all times; a list are parts that come and go.
  if (Array.isArray(parts) && !isCovered(where, { parts, model, schema: models[table] })) return false;
  const relations = relationsOf(models, model);
  return Object.entries(include).every(([name, wanted]) => {
    const other = relations.get(name)?.model;
    // Which records are included depends on the rows, so that no condition says it.
    return (
      other === undefined || !wanted || isWithin(scope, models, other, wanted === true ? {} : { ...wanted, where: {} })
    );
  });
}

/** What is followed of a model. */
interface Followed {
  readonly parts: readonly FollowedConditions[];
  readonly model: string;
  readonly schema: Model | undefined;
}

/** Whether each record that meets the query is in one of the parts. */
export function isCovered(where: Conditions, followed: Followed): boolean {
  const { parts, schema } = followed;
  if (parts.some((part) => isAskedFor(where, part, followed))) return true;
  const { or, ...rest } = where;
  const isOneOf = Array.isArray(or) && !schema?.fields.or && !schema?.fields.and;
  const isEachCovered = (one: Conditions) =>
    isCovered({ ...one, and: [...((one.and as Conditions[] | undefined) ?? []), rest] }, followed);
  if (isOneOf && (or as Conditions[]).every(isEachCovered)) return true;
  // Each value may be in another part.
  return Object.entries(where).some(([field, wanted]) => {
    const values = valuesOf(wanted);
    if (!values || values.length < 2) return false;
    const tests = parts.flatMap(({ [field]: own, ...others }) =>
      own !== undefined && isAskedFor(where, others, followed) ? [testOf(field, own, followed)] : [],
    );
    return values.every((value) => tests.some((test) => test(value)));
  });
}

/** Whether each record that meets the query meets the part's conditions. */
function isAskedFor(where: Conditions, part: FollowedConditions, followed: Followed): boolean {
  return Object.entries(part).every(([field, wanted]) => {
    const meets = testOf(field, wanted, followed);
    return askedOf(where, field, followed.schema).some((asked) => {
      const values = valuesOf(asked);
      if (values) return values.every(meets);
      if (!isObject(wanted) || !isObject(asked)) return false;
      return Object.entries(wanted).every(([operator, operand]) => {
        if (operator === "contains") return isEqual(asked.contains, operand);
        const way = operator.slice(0, 2);
        const isInside = (own: string, bound: string) =>
          asked[own] !== undefined && testOf(field, { [bound]: operand }, followed)(asked[own]);
        // What is above a bound is not the bound itself.
        return /^[gl]t/.test(way) && (isInside(way, `${way}e`) || isInside(`${way}e`, operator));
      });
    });
  });
}

/** Tests a value of a field. */
function testOf(field: string, condition: unknown, { model, schema }: Followed): (value: unknown) => boolean {
  const meets = compileConditions(model, schema, { [field]: condition });
  return (value) => meets({ [field]: value instanceof Date ? value.toJSON() : value } as JsonObject);
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
