import { shownRow } from "../../core/conflicts/overlay.ts";
import { tableOf } from "../../core/log/tables.ts";
import type { ClientState } from "../../core/state.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { type Conditions, compileConditions, compileSearch } from "./conditions.ts";
import { mustBe } from "./query-error.ts";
import { queryKey } from "./query-key.ts";
import { asGiven, type ShownRows } from "./shown-rows.ts";
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
  /** All records that match, in no order. */
  all(state: StateOfRows): Generator<JsonObject>;
}

/** The ids of all records that can meet conditions, and of others. Undefined: it is not known. */
export type Candidates = (
  state: StateOfRows,
  table: string,
  conditions: Conditions,
) => readonly ReadonlySet<string>[] | undefined;

/** Compiles a query. Throws for an invalid one, which would otherwise look like an empty list. */
export function listQuery(
  model: string,
  query: AnyQuery,
  schema: Model | undefined,
  { show, give }: ShownRows = { show: (_, row) => row, give: (_, data) => asGiven(data) },
  candidates: Candidates = () => undefined,
): ListQuery {
  const { where = {}, search, from, before, limit = Number.POSITIVE_INFINITY, archived = "without" } = query;
  if (!["without", "only", "with"].includes(archived))
    throw mustBe("archived", `"without", "only" or "with"`, archived);
  if (query.staleOk !== undefined && typeof query.staleOk !== "boolean")
    throw mustBe("staleOk", "true or false", query.staleOk);
  const tests = [compileConditions(model, schema, where)];
  if (search !== undefined) tests.push(compileSearch(schema, search));
  const order = compileOrder(model, schema, query);
  const place = before ?? from;
  if (place) {
    if (typeof place.id !== "string") throw mustBe("from", "a record", place);
    tests.push((data) => order.compare(data, place) > (before ? 0 : -1));
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
    limit: Math.max(0, Math.trunc(limit) || 0),
    give: (data, base) => give(table, data, base),
    find: (state, id) => matching(shownRow(state, { model: table, id })),
    *all(state) {
      const { rows, overlay } = state;
      const found = candidates(state, table, where);
      for (const ids of found ?? [])
        for (const id of ids) {
          const data = this.find(state, id);
          if (data) yield data;
        }
      if (found) return;
      const over = ownValue(overlay, table);
      for (const [id, row] of ownValue(rows.tables, table)?.entries() ?? []) {
        const data = over?.has(id) ? undefined : matching(row);
        if (data) yield data;
      }
      for (const row of over?.values() ?? []) {
        const data = matching(row);
        if (data) yield data;
      }
    },
  };
}
