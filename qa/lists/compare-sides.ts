import fc from "fast-check";
import { compileConditions } from "../../packages/sdk/src/api/lists/conditions.ts";
import { compileOrder, type SortKey, type SortOptions } from "../../packages/sdk/src/api/lists/sort-order.ts";
import type { JsonObject } from "../../packages/sdk/src/protocol/json.ts";
import type { FollowedConditions } from "../../packages/sdk/src/protocol/log/followed-records.ts";
import { meetsConditions } from "../../packages/sdk/src/protocol/log/meets-conditions.ts";
import type { Model } from "../../packages/sdk/src/protocol/schema/model-schema.ts";
import type { Transaction } from "../../packages/server/src/kernel/connection/transaction.ts";
import { hostedRelation } from "../../packages/server/src/kernel/lists/db/hosted-relation.ts";
import {
  type ListQuestion,
  listRecords,
  type PageEnd,
} from "../../packages/server/src/kernel/lists/db/list-records.ts";
import type { FilterValue, ListFilter } from "../../packages/server/src/kernel/lists/rules/list-filter.ts";
import { type ListQuery, readListQuery } from "../../packages/server/src/kernel/lists/rules/list-query.ts";
import { followedRecords } from "../../packages/server/src/kernel/log/rules/followed-records.ts";
import type { DeclaredModel } from "../../packages/server/src/kernel/schema/rules/declared-model.ts";
import { type ComparedType, fieldsByType, storedValue, comparedTypes as types, valuesByType } from "./any-value.ts";

const model: Model = { fields: fieldsByType };
const MODEL = "compared";
const declared = new Map<string, DeclaredModel>([["compared", { name: "compared", model, changes: [] }]]);
/** What no record meets. */
const NONE = { operator: "or", conditions: [] } as const;
const TENANT = 1;
const RECORDS = 250;
const QUERIES = 40;
const NESTED = 20;
const ORDERS = 10;
/** So that most pages end within equal values. */
const PAGE = 17;

export interface Compared {
  readonly comparisons: number;
  /** What a client and the server answered differently, as sentences. */
  readonly differences: readonly string[];
}

/**
 * Sorts and filters one random set of records on both sides: with the client's compiled queries, and with the
 * statements of the server's lists. What the server judges in JavaScript is compared too.
 */
export async function compareSides(db: Transaction, seed: number): Promise<Compared> {
  const { records, queries, nested, orders } = drawn(seed);
  await db.query("delete from holdfast.record where tenant = $1", [TENANT]);
  await db.query(
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select $1, $2, one->>'id', 1, one, '{}', 1, '', now(), now(), '' from unnest($3::json[]) one`,
    [TENANT, MODEL, records.map((record) => JSON.stringify(record))],
  );
  const differences: string[] = [];
  let comparisons = 0;
  const compare = async (what: string, question: Partial<ListQuestion>, client: readonly JsonObject[]) => {
    const listed = await listRecords(db, { ...everything, ...question });
    compareIds(
      what,
      listed.records.map(({ id }) => id),
      client,
    );
  };
  const compareIds = (what: string, server: readonly string[], client: readonly JsonObject[]) => {
    comparisons += records.length;
    const at = records.findIndex((_, i) => server[i] !== client[i]?.id);
    if (at < 0) return;
    const [theirs, own] = [records.find(({ id }) => id === server[at]), client[at]];
    differences.push(`${what} (seed ${seed}): ${JSON.stringify(theirs)} there, ${JSON.stringify(own)} here`);
  };

  for (const asked of [...sorts, ...orders]) {
    const { order } = judged(asked);
    const client = compileOrder(MODEL, model, asked).sorted(records);
    const what = `by ${JSON.stringify(asked)}`;
    await compare(what, { order }, client);
    const ids: string[] = [];
    for (let after: PageEnd | undefined, hasMore = true; hasMore; ) {
      const page = await listRecords(db, { ...everything, order, after, limit: PAGE });
      ids.push(...page.records.map(({ id }) => id));
      after = page.records.at(-1);
      hasMore = page.hasMore;
    }
    compareIds(`${what}, in pages`, ids, client);
    const back: string[] = [];
    const last = client.at(-1)?.id;
    const [end] = (await listRecords(db, { ...everything, order, ids: [String(last)] })).records;
    for (let before: PageEnd | undefined = end && { ...end, isIncluded: true }; before; ) {
      const page = await listRecords(db, { ...everything, order, before, limit: PAGE });
      back.unshift(...page.records.map(({ id }) => id));
      before = page.hasMore ? page.records[0] : undefined;
    }
    compareIds(`${what}, in pages from the end`, back, client);
  }
  for (const where of nested) {
    const isMet = compileConditions(MODEL, model, where);
    await compare(`where ${JSON.stringify(where)}`, { filters: judged({ where }).filters }, records.filter(isMet));
  }
  for (const query of queries) {
    const filters = [filterOf(query)];
    const where = { [query.type]: query.operator === "eq" ? query.value : { [query.operator]: query.value } };
    const isMet = compileConditions(MODEL, model, where);
    const what = `where ${JSON.stringify(where)}`;
    await compare(what, { filters }, records.filter(isMet));
    if (query.operator === "not" || query.operator === "notIn") continue;
    const part = where as FollowedConditions;
    const followed = records.filter((record) => meetsConditions(part, model, record.id as string, record));
    const [snapshot = [NONE]] = followedRecords({ [MODEL]: [part] }, declared).get(MODEL) ?? [];
    await compare(`${what}, as one who follows it reads and hears it`, { filters: snapshot }, followed);
  }
  return { comparisons, differences };
}

/** As the server judges a query. */
function judged(query: object): ListQuery {
  const found = readListQuery({ ...query }, model, (name) => name);
  if ("code" in found) throw new Error(`${found.param}: ${found.message}`);
  return found;
}

const everything: ListQuestion = {
  ...{
    tenant: TENANT,
    model: MODEL,
    relation: hostedRelation(false, TENANT),
    state: "all",
    ids: undefined,
    filters: [],
    groups: undefined,
  },
  ...{ order: { keys: [], idDescending: false }, after: undefined, limit: RECORDS, bytes: 2 ** 30 },
};

type Order = Pick<SortOptions, "orderBy" | "order">;

const sorts: readonly Order[] = (["asc", "desc"] as const).flatMap((order) => [
  ...["id", ...types].map((orderBy) => ({ orderBy, order })),
  { orderBy: [{ field: "enum", by: "values" }], order },
]);

const direction = fc.constantFrom("asc" as const, "desc" as const);
const anyOrder: fc.Arbitrary<Order> = fc.record({
  orderBy: fc.array(
    fc.oneof(
      fc.constantFrom(...types, "id"),
      fc.record({ field: fc.constantFrom(...types, "id"), order: direction }),
      fc.record({ field: fc.constant("enum"), by: fc.constant("values" as const), order: direction }),
    ) as fc.Arbitrary<SortKey>,
    { maxLength: 4 },
  ),
  order: direction,
});

type Query = { readonly type: ComparedType } & (
  | { readonly operator: "eq" | "not"; readonly value: FilterValue | null }
  | { readonly operator: "gt" | "gte" | "lt" | "lte"; readonly value: FilterValue }
  | { readonly operator: "in" | "notIn"; readonly value: readonly (FilterValue | null)[] }
);

function filterOf(query: Query): ListFilter {
  const column = { kind: "field", name: query.type, type: query.type } as const;
  switch (query.operator) {
    case "in":
    case "notIn":
      return { column, operator: query.operator, values: query.value };
    case "eq":
    case "not":
      if (query.value === null) return { column, operator: "null", value: query.operator === "eq" };
      return { column, operator: query.operator, value: query.value };
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return { column, operator: query.operator, value: query.value };
  }
}

const anyQuery: fc.Arbitrary<Query> = fc.constantFrom(...types).chain((type): fc.Arbitrary<Query> => {
  const value: fc.Arbitrary<FilterValue> = valuesByType[type];
  const orNull = fc.option(value, { freq: 6 });
  return fc.oneof(
    fc.record({ type: fc.constant(type), operator: fc.constantFrom("eq", "not"), value: orNull }),
    fc.record({ type: fc.constant(type), operator: fc.constantFrom("gt", "gte", "lt", "lte"), value }),
    fc.record({
      type: fc.constant(type),
      operator: fc.constantFrom("in", "notIn"),
      value: fc.array(orNull, { maxLength: 6 }),
    }),
  );
});

const onText = fc.oneof(
  fc.record({
    type: fc.constantFrom("string", "enum"),
    operator: fc.constantFrom("contains", "startsWith"),
    value: valuesByType.string,
  }),
  // "a" is an item of a list that such a field may hold.
  fc.record({
    type: fc.constantFrom("string", "enum"),
    operator: fc.constant("search"),
    value: fc.constantFrom("", "a"),
  }),
);

/** Conditions at any depth, some of them on several fields. */
const { where: anyWhere } = fc.letrec<{ where: unknown; group: unknown; fields: unknown }>((tie) => ({
  fields: fc
    .array(fc.oneof({ weight: 3, arbitrary: anyQuery }, onText), { maxLength: 3 })
    .map((some) =>
      Object.fromEntries(
        some.map(({ type, operator, value }) => [type, operator === "eq" ? value : { [operator]: value }]),
      ),
    ),
  group: fc
    .tuple(fc.constantFrom("and", "or"), fc.array(tie("where"), { maxLength: 3 }))
    .map(([word, some]) => ({ [word]: some })),
  where: fc.oneof(
    { maxDepth: 4 },
    tie("fields"),
    tie("group"),
    fc.tuple(tie("fields"), tie("group")).map(([some, more]) => ({ ...(some as object), ...(more as object) })),
  ),
}));

const anyRecord = fc.record(
  Object.fromEntries(types.map((type): [string, fc.Arbitrary<unknown>] => [type, storedValue(type)])),
  { requiredKeys: [] },
);

interface Drawn {
  /** With ids in their order. */
  readonly records: readonly JsonObject[];
  readonly queries: readonly Query[];
  readonly nested: readonly unknown[];
  readonly orders: readonly Order[];
}

function drawn(seed: number): Drawn {
  const records = fc.sample(anyRecord, { seed, numRuns: RECORDS }).map((record, i) => ({
    ...record,
    id: `r${String(i).padStart(3, "0")}`,
  }));
  return {
    records: records as JsonObject[],
    queries: fc.sample(anyQuery, { seed, numRuns: QUERIES }),
    nested: fc.sample(anyWhere, { seed, numRuns: NESTED }),
    orders: fc.sample(anyOrder, { seed, numRuns: ORDERS }),
  };
}
