import type { Include, ModelName, ModelSchema, NoInclude, QueryRow, SyncStatus } from "@holdfast/sdk";
import { useCallback } from "react";
import { listNow, type Seed } from "../hydration/hydration.ts";
import { type AnyClient, type AnyRow, modelOf } from "../model-of.ts";
import { none } from "../none.ts";
import { type ShownQuery, useLoadedQuery } from "./use-loaded-query.ts";
import { useSelect } from "./use-select.ts";

/** The records of a query, and what is known of them. */
export interface QueryState<Row> {
  readonly rows: readonly Row[];
  /** Whether there may be others: see `status` of a model. */
  readonly status: SyncStatus["rows"];
}

export type UseQueryState<S extends ModelSchema> = <M extends ModelName<S>, const I extends Include<S, M> = NoInclude>(
  model: M,
  query?: ShownQuery<S, M, I> | "skip",
) => QueryState<QueryRow<S, M, I>>;

/** `useQuery`, and whether its records are all that there are. The result keeps its identity until one of both changes. */
export const useQueryState: UseQueryState<ModelSchema> = (model, query) => {
  const asked = useLoadedQuery(model, query);
  const read = useCallback(
    (client: AnyClient, seed: Seed | undefined): QueryState<AnyRow> =>
      asked === "skip"
        ? { rows: none, status: "loading" }
        : { rows: listNow(client, seed, model, asked), status: modelOf(client, model).status(asked) },
    [model, asked],
  );
  return useSelect(read);
};
