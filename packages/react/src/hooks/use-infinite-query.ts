import {
  type Include,
  type ModelName,
  type ModelSchema,
  type NoInclude,
  type Query,
  type QueryRow,
  SyncError,
} from "@holdfast/sdk";
import { useCallback, useMemo, useState } from "react";
import { shallowEqual } from "../equal.ts";
import { type AnyClient, type AnyRow, modelOf } from "../model-of.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useQuery } from "./use-query.ts";
import type { QueryState } from "./use-query-state.ts";
import { useRecord } from "./use-record.ts";
import { useSelect } from "./use-select.ts";

/** A query whose limit and place the hook chooses. */
export type InfiniteQuery<S extends ModelSchema, M extends ModelName<S>, I extends Include<S, M>> = Omit<
  Query<S, M, I>,
  "limit" | "from" | "before"
>;

export interface InfiniteOptions {
  /** How many records the window has at first, and gets with each page. Default 50. */
  readonly pageSize?: number | undefined;
  /** The id of the record that the window begins at. Default: the beginning of the list. */
  readonly at?: string | undefined;
}

/** A window of a list. `status` says, as in `useQueryState`, whether there may be records that are not known yet. */
export interface InfiniteWindow<Row> extends QueryState<Row> {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Extends the window at its end. */
  fetchNextPage(): void;
  /** Extends the window at its beginning. Only a window with `at` has something before it. */
  fetchPreviousPage(): void;
}

export type UseInfiniteQuery<S extends ModelSchema> = <
  M extends ModelName<S>,
  const I extends Include<S, M> = NoInclude,
>(
  model: M,
  query?: InfiniteQuery<S, M, I> | "skip",
  options?: InfiniteOptions,
) => InfiniteWindow<QueryRow<S, M, I>>;

/**
 * The window is anchored at a place in the order, not at a number of records, so that what happens before it does not
 * move it:
 *
 *    all that match, in order:   ─ ─ ─ ├── before ──┤anchor├──── after ────┤ ─ ─ ─
 *                                      └────────────── rows ───────────────┘
 */
interface Extent {
  of: readonly unknown[];
  /** What the record `at` had in the fields that count for the order. Undefined: the beginning of the list. */
  anchor: AnyRow | undefined;
  before: number;
  after: number;
}

/** A part of a query's records, which can be extended in both directions. `"skip"` reads nothing. */
export const useInfiniteQuery: UseInfiniteQuery<ModelSchema> = (model, query = {}, options = {}) => {
  const { pageSize: page = 50, at, ...others } = options;
  checkWindow(query, page, others);
  const asked = useFirstOfEquals(query);
  const of = [model, asked, page, at];
  const begun: Extent = { of, anchor: undefined, before: 0, after: page };
  const [extent, setExtent] = useState(begun);
  // Another query begins a new window in the same render, so that none is shown with the extent of another. Not with a
  // state update, as in `useFirstOfEquals`.
  if (!shallowEqual(extent.of, of)) Object.assign(extent, begun);
  const record = useRecord(model, at === undefined || extent.anchor ? "skip" : at);
  if (record && asked !== "skip") extent.anchor = placeOf(record, asked.orderBy);

  const { anchor, before, after } = extent;
  const isFound = anchor !== undefined && asked !== "skip";
  const next = usePart(model, isFound ? { ...asked, from: anchor } : asked, after, page);
  const previous = usePart(model, isFound ? { ...asked, before: anchor } : "skip", before, page);
  const status = useStatus(model, asked);
  const rows = useMemo(() => [...[...previous.rows].reverse(), ...next.rows], [previous, next]);
  return useMemo(
    () => ({
      rows,
      status,
      hasNextPage: next.hasMore,
      hasPreviousPage: previous.hasMore,
      fetchNextPage: () => next.hasMore && setExtent((now) => ({ ...now, after: after + page })),
      fetchPreviousPage: () => previous.hasMore && setExtent((now) => ({ ...now, before: before + page })),
    }),
    [rows, status, next, previous, before, after, page],
  );
};

function useStatus(model: string, query: Query<ModelSchema, string> | "skip"): QueryState<AnyRow>["status"] {
  const read = useCallback(
    (client: AnyClient) => (query === "skip" ? "loading" : modelOf(client, model).status(query)),
    [model, query],
  );
  return useSelect(read);
}

/** What the hook would not use is a mistake. The client judges the rest of the query. */
function checkWindow(query: object | "skip", page: number, others: object): void {
  for (const param of Object.keys(others)) throw invalid(param, "is no option of useInfiniteQuery");
  if (!(Number.isSafeInteger(page) && page > 0)) throw invalid("pageSize", "must be a whole number from 1");
  for (const param of ["limit", "from", "before"])
    if (query !== "skip" && param in query) throw invalid(param, "is chosen by useInfiniteQuery");
}

const invalid = (param: string, what: string) =>
  new SyncError({
    ...{ code: "invalid_value", type: "validation_error", status: 400, then: "fix", param },
    message: `${param} ${what}.`,
  });

interface Part {
  readonly rows: readonly AnyRow[];
  readonly hasMore: boolean;
}

/**
 * The first so many records of a query. The limit doubles, because each limit is a list of its own, which reads all
 * records once.
 */
function usePart(model: string, query: Query<ModelSchema, string> | "skip", count: number, page: number): Part {
  let limit = page + 1;
  while (limit <= count) limit *= 2;
  return useQuery(
    model,
    query === "skip" ? query : { ...query, limit },
    (rows): Part => ({ rows: rows.slice(0, count), hasMore: rows.length > count }),
    (a, b) => a.hasMore === b.hasMore && shallowEqual(a.rows, b.rows),
  );
}

function placeOf(record: AnyRow, orderBy: Query<ModelSchema, string>["orderBy"] = []): AnyRow {
  const keys = typeof orderBy === "string" ? [orderBy] : orderBy;
  const names = keys.map((key) => (typeof key === "string" ? key : key.field));
  return Object.fromEntries([...names, "id"].map((name) => [name, record[name as keyof AnyRow]])) as unknown as AnyRow;
}
