import { shownRow } from "../../core/conflicts/overlay.ts";
import { tableOf } from "../../core/log/tables.ts";
import type { ClientState } from "../../core/state.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { jsonCopy } from "../writes/payload.ts";
import { type Conditions, compileConditions, compileSearch } from "./conditions.ts";
import { checkKeys, checkObject, checkOneOf, fieldOf, mustBe } from "./query-error.ts";
import { queryKey } from "./query-key.ts";
import { asGiven, copyOf, type ShownRows } from "./shown-rows.ts";
import { compileOrder, type SortOptions, type SortOrder } from "./sort-order.ts";

/** A query on any model. */
export interface AnyQuery extends SortOptions {
  readonly where?: Conditions | undefined;
  readonly search?: string | undefined;
  /** A place in the order: only the records from there on. */
  readonly from?: JsonObject | undefined;
  readonly limit?: number | undefined;
  readonly archived?: "without" | "only" | "with" | undefined;
  readonly staleOk?: boolean | undefined;
  readonly include?: AnyInclude | undefined;
}

/** Relations by name: each whole, or with a query of its own. */
export type AnyInclude = Readonly<Record<string, true | AnyQuery | undefined>>;

export type StateOfRows = Pick<ClientState, "rows" | "overlay">;

/** A compiled query. */
export interface ListQuery extends SortOrder {
  /** The same for queries that ask for the same. */
  readonly key: string;
  readonly table: string;
  readonly limit: number;
  /** Makes a record of the query ready for the app: see `ShownRows`. */
  give(data: JsonObject, base?: JsonObject): JsonObject;
  /** A record as the app receives it, if it matches. */
  find(state: StateOfRows, id: string): JsonObject | undefined;
  /** Calls `take` with all records that match, in no order. */
  all(state: StateOfRows, take: (data: JsonObject) => void): void;
}

/** The ids of all records of a table that can meet the conditions, and of others. Undefined: no index finds them. */
export type FindIndexed = (state: StateOfRows, table: string, conditions: Conditions) => Iterable<string> | undefined;

const KEYS: readonly (keyof AnyQuery)[] = [
  ...(["where", "search", "archived"] as const),
  ...(["orderBy", "order", "locale", "limit", "from", "before", "include", "staleOk"] as const),
];
/** What a query that only counts can have. */
export const COUNT_KEYS = KEYS.slice(0, 3);

/** Compiles a query. Throws for an invalid one, which would otherwise look like an empty list. */
export function listQuery(
  model: string,
  query: AnyQuery,
  schema: Model | undefined,
  { show, give }: ShownRows = { show: (_, row) => row, give: (_, data) => asGiven(data) },
  keys = KEYS,
  findIndexed: FindIndexed = () => undefined,
): ListQuery {
  checkKeys(query, keys);
  const {
    where = {},
    search,
    limit = Number.POSITIVE_INFINITY,
    include = {},
    archived = "without",
    staleOk = true,
  } = query;
  checkObject(include, "include");
  checkOneOf(archived, ["without", "only", "with"], "archived");
  checkOneOf(staleOk, [true, false], "staleOk");
  if (typeof limit !== "number" || limit % 1 || !(limit >= 0)) throw mustBe("limit", "a whole number from 0", limit);
  const tests = [compileConditions(model, schema, where)];
  const asked = copyOf(where);
  if (search !== undefined) tests.push(compileSearch(schema, search));
  const order = compileOrder(model, schema, query);
  const side = query.before === undefined ? "from" : "before";
  const place = query[side];
  if (place !== undefined) {
    if (query.before && query.from) throw mustBe("from", "absent beside before", query.from);
    if (typeof place?.id !== "string") throw mustBe(side, "a record with its id", place);
    const end: Record<string, Json> = { id: place.id };
    for (const name of order.fields) end[name] = jsonCopy(place[name] ?? null, `${side}.${name}`);
    // A record that has no value to sort by does not name the field either.
    if (!order.fields.every((name) => name in place))
      for (const name of Object.keys(place))
        if (!ownValue(include, name)) fieldOf(model, schema, name, `${side}.${name}`);
    const compared = order.comparedWith(end);
    tests.push((data) => compared(data) > (side === "before" ? 0 : -1));
  }
  const table = tableOf(model);
  const key = queryKey(model, query);
  // Only an object that is ready for the app has them. A value may look like one: that only costs time.
  const usesFacts = key.includes('"$');
  const matching = (found: Row | null | undefined): JsonObject | undefined => {
    if (!found) return undefined;
    const { data, archivedAt } = show(table, found);
    if (usesFacts) give(table, data);
    const isOfKind = archived === "with" || (archivedAt === null) === (archived === "without");
    return isOfKind && tests.every((test) => test(data)) ? data : undefined;
  };
  return {
    ...order,
    key,
    table,
    limit,
    give: (data, base) => give(table, data, base),
    find: (state, id) => matching(shownRow(state, { model: table, id })),
    all(state, take) {
      const takeIf = (data: JsonObject | undefined) => data && take(data);
      const found = findIndexed(state, table, asked);
      if (found) for (const id of found) takeIf(this.find(state, id));
      else {
        const over = ownValue(state.overlay, table);
        ownValue(state.rows.tables, table)?.each((row, id) => over?.has(id) || takeIf(matching(row)));
        over?.each((row) => takeIf(matching(row)));
      }
    },
  };
}
