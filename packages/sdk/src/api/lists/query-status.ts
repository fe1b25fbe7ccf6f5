import { conditionsOn, followsModel } from "../../core/log/followed.ts";
import { everything, type Scope } from "../../core/log/rows.ts";
import { tableOf } from "../../core/log/tables.ts";
import { rowsStatus, type SyncStatus } from "../../core/select.ts";
import type { ClientState } from "../../core/state.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { type Relation, relationsOf } from "../../protocol/schema/relations.ts";
import { type Conditions, compileConditions } from "./conditions.ts";
import type { AnyQuery } from "./list-query.ts";
import { valuesOf } from "./value-indexes.ts";

type Models = ClientState["models"];

/** What a query has found: records with what they include. */
type Found = readonly JsonObject[];

/** Where a query finds its records. */
interface Finder {
  list(model: string, query: AnyQuery): Found;
}

/**
 * What is known of a query's records. A client may have some parts of a model only: then it has all that a query can
 * match if the query asks for what one of the parts has.
 */
export function queryStatus(state: ClientState, model: string, query: AnyQuery, lists: Finder): SyncStatus["rows"] {
  const { rows, scope } = state;
  const known = rowsStatus(state, "parts");
  if (known === "loading") return known;
  const found = query.include ? lists.list(model, query.staleOk === false ? { ...query, staleOk: true } : query) : NONE;
  // Until the code for them is loaded, lists that include records are empty.
  if (
    query.include &&
    found.length === 0 &&
    lists.list(model, { ...query, include: undefined, staleOk: true }).length > 0
  )
    return "loading";
  const { scope: reached = everything } = rows;
  const before = judged.get(found);
  const isSame = before?.reached === reached && before.scope === scope && before.query === query;
  const answer = isSame ? before : judge({ reached, scope, query }, state.models, { model, query, found });
  if (found.length > 0) judged.set(found, answer);
  return answer.within === "rows" ? known : answer.within;
}

const NONE: Found = [];

interface Judged {
  readonly reached: Scope;
  readonly scope: Scope;
  readonly query: AnyQuery;
  /** `loading`: its part is on its way, for the first time. */
  readonly within: "rows" | "loading" | "partial";
}

/** A query that includes thousands of records is asked for its status with each change of any. */
const judged = new WeakMap<Found, Judged>();

function judge(of: Omit<Judged, "within">, models: Models, asked: Asked): Judged {
  if (isWithin(of.reached, models, asked)) return { ...of, within: "rows" };
  return { ...of, within: isWithin(of.scope, models, asked) ? "loading" : "partial" };
}

interface Asked {
  readonly model: string;
  readonly query: AnyQuery;
  readonly found: Found;
}

/** Whether the scope has everything that the query can match, and what its records include. */
function isWithin(scope: Scope, models: Models, { model, query, found }: Asked): boolean {
  const { where = {}, include = {} } = query;
  const table = tableOf(model);
  if (!followsModel(scope, model)) return false;
  const parts = conditionsOn(scope, model);
  // One condition is what the app follows of the model at all times; a list are parts that come and go.
  if (Array.isArray(parts) && !isCovered(where, { parts, model, schema: models[table] })) return false;
  const relations = relationsOf(models, model);
  return Object.entries(include).every(([name, wanted]) => {
    const relation = relations.get(name);
    if (!relation || !wanted) return true;
    const inner = wanted === true ? {} : wanted;
    // Then it does not matter which records there are.
    if (!inner.include && !Array.isArray(conditionsOn(scope, relation.model)))
      return followsModel(scope, relation.model);
    const included = found.flatMap((record) => [record[name] ?? []].flat() as unknown as JsonObject[]);
    const asked = relatedTo(found, relation, models[tableOf(relation.model)]);
    return asked.every((one) => {
      const related: AnyQuery = { ...inner, where: { ...one, and: [inner.where ?? {}] } };
      return isWithin(scope, models, { model: relation.model, query: related, found: included });
    });
  });
}

/** The queries for what records include. Which records that is depends on the ids that they have. */
function relatedTo(found: Found, { kind, field }: Relation, other: Model | undefined): readonly Conditions[] {
  const own = (record: JsonObject) => (kind === "inverse" ? record.id : record[field]) ?? [];
  const ids = [...new Set(found.flatMap((record) => [own(record)].flat() as string[]))];
  if (kind !== "inverse") return [{ id: { in: ids } }];
  // The items of an array are asked for one by one.
  if (other?.fields[field]?.type === "array") return ids.map((id) => ({ [field]: { contains: id } }));
  return [{ [field]: { in: ids } }];
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
    if (!values) return false;
    const known = new Set<unknown>();
    const tests = parts.flatMap(({ [field]: own, ...others }) => {
      if (own === undefined || !isAskedFor(where, others, followed)) return [];
      for (const value of valuesOf(own) ?? []) known.add(value);
      return [testOf(field, own, followed)];
    });
    // Thousands of ids are looked up. What is spelled otherwise, such as a moment, is compared.
    return values.every((value) => known.has(value) || tests.some((test) => test(value)));
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
