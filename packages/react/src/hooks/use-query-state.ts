import type { Include, ModelName, ModelSchema, NoInclude, Query, QueryRow, SyncStatus } from "@holdfast/sdk";
import { useMemo } from "react";
import { useQuery } from "./use-query.ts";
import { useSyncStatus } from "./use-sync-status.ts";

/** The records of a query, and what is known of them. */
export interface QueryState<Row> {
  readonly rows: readonly Row[];
  /** Whether there may be others: see `rows` of the client's status. */
  readonly status: SyncStatus["rows"];
}

export type UseQueryState<S extends ModelSchema> = <M extends ModelName<S>, const I extends Include<S, M> = NoInclude>(
  model: M,
  query?: Query<S, M, I> | "skip",
) => QueryState<QueryRow<S, M, I>>;

/** `useQuery`, and whether its records are all that there are. The result keeps its identity until one of both changes. */
export const useQueryState: UseQueryState<ModelSchema> = (model, query) => {
  const rows = useQuery(model, query);
  const status = useSyncStatus((all) => all.rows);
  return useMemo(() => ({ rows, status }), [rows, status]);
};
