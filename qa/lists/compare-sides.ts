import fc from "fast-check";
import { compileConditions } from "../../packages/sdk/src/api/lists/conditions.ts";
import { compileOrder, type SortOptions } from "../../packages/sdk/src/api/lists/sort-order.ts";
import type { JsonObject } from "../../packages/sdk/src/protocol/json.ts";
import type { Field, Model } from "../../packages/sdk/src/protocol/schema/model-schema.ts";
import type { Transaction } from "../../packages/server/src/db/connection/transaction.ts";
import { hostedSource } from "../../packages/server/src/db/lists/hosted-source.ts";
import { type ListQuestion, listRecords } from "../../packages/server/src/db/lists/list-records.ts";
import type { SortColumn } from "../../packages/server/src/rules/lists/list-column.ts";
import type { FilterValue, ListFilter } from "../../packages/server/src/rules/lists/list-filter.ts";
import { meetsFilters } from "../../packages/server/src/rules/lists/meets-filters.ts";
import { type ComparedType, enumValues, storedValue, valuesByType } from "./any-value.ts";

const types = Object.keys(valuesByType) as ComparedType[];
/** Each type has the field of its name. */
const fields = Object.fromEntries(
  types.map((type): [string, Field] => [
    type,
    { type, nullable: true, ...(type === "enum" && { values: enumValues }) },
  ]),
);
const model: Model = { fields };
const MODEL = "compared";
const TENANT = 1;
const RECORDS = 250;
const QUERIES = 40;

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
  const { records, queries } = drawn(seed);
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
    const server = listed.records.map(({ id }) => id);
    comparisons += records.length;
    const at = records.findIndex((_, i) => server[i] !== client[i]?.id);
    if (at < 0) return;
    const [theirs, own] = [records.find(({ id }) => id === server[at]), client[at]];
    differences.push(`${what} (seed ${seed}): ${JSON.stringify(theirs)} there, ${JSON.stringify(own)} here`);
  };

  for (const [sort, orderBy] of sorts)
    for (const order of ["asc", "desc"] as const) {
      const client = compileOrder(MODEL, model, { orderBy, order }).sorted(records);
      await compare(`by ${JSON.stringify(orderBy)} ${order}`, { sort, descending: order === "desc" }, client);
    }
  for (const query of queries) {
    const filters = [filterOf(query)];
    const where = { [query.type]: { [query.operator]: query.value } };
    const isMet = compileConditions(MODEL, model, query.operator === "eq" ? { [query.type]: query.value } : where);
    const what = `where ${JSON.stringify(where)}`;
    await compare(what, { filters }, records.filter(isMet));
    if (query.operator === "not" || query.operator === "notIn") continue;
    const judged = records.filter((record) => meetsFilters(filters, record.id as string, record));
    await compare(`${what}, as a stream judges it`, { filters }, judged);
  }
  return { comparisons, differences };
}

const everything: ListQuestion = {
  ...{
    tenant: TENANT,
    model: MODEL,
    source: hostedSource(false),
    state: "all",
    ids: undefined,
    filters: [],
    groups: undefined,
  },
  ...{ sort: { kind: "id" }, descending: false, after: undefined, limit: RECORDS, bytes: 2 ** 30 },
};

const sorts: readonly (readonly [SortColumn, NonNullable<SortOptions["orderBy"]>])[] = [
  [{ kind: "id" }, "id"],
  ...types.map((type) => [{ kind: "field", name: type, type }, type] as const),
  [{ kind: "rank", name: "enum", values: enumValues }, [{ field: "enum", by: "values" }]],
];

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

const anyRecord = fc.record(
  Object.fromEntries(types.map((type): [string, fc.Arbitrary<unknown>] => [type, storedValue(type)])),
  { requiredKeys: [] },
);

/** The records have ids in their order. */
function drawn(seed: number): { readonly records: readonly JsonObject[]; readonly queries: readonly Query[] } {
  const records = fc.sample(anyRecord, { seed, numRuns: RECORDS }).map((record, i) => ({
    ...record,
    id: `r${String(i).padStart(3, "0")}`,
  }));
  return { records: records as JsonObject[], queries: fc.sample(anyQuery, { seed, numRuns: QUERIES }) };
}
