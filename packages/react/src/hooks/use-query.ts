import type { Include, ModelName, ModelSchema, NoInclude, QueryRow } from "@holdfast/sdk";
import { useCallback } from "react";
import type { IsEqual } from "../equal.ts";
import { listNow, type Seed } from "../hydration/hydration.ts";
import type { AnyClient, AnyRow } from "../model-of.ts";
import { none } from "../none.ts";
import { type ShownQuery, useLoadedQuery } from "./use-loaded-query.ts";
import { useSelect } from "./use-select.ts";

export type UseQuery<S extends ModelSchema> = <
  M extends ModelName<S>,
  const I extends Include<S, M> = NoInclude,
  T = readonly QueryRow<S, M, I>[],
>(
  model: M,
  query?: ShownQuery<S, M, I> | "skip",
  select?: (rows: readonly QueryRow<S, M, I>[]) => T,
  isEqual?: IsEqual<T>,
) => T;

type AnyQuery = ShownQuery<ModelSchema, string>;

/**
 * The matching records, in order. The query may be inline: an equal query counts as the same. `"skip"` reads nothing
 * and returns no records.
 */
export const useQuery: UseQuery<ModelSchema> = <T = readonly AnyRow[]>(
  model: string,
  query?: AnyQuery | "skip",
  select?: (rows: readonly AnyRow[]) => T,
  isEqual?: IsEqual<T>,
) => {
  const asked = useLoadedQuery(model, query);
  const read = useCallback(
    (client: AnyClient, seed: Seed | undefined) => (asked === "skip" ? none : listNow(client, seed, model, asked)),
    [model, asked],
  );
  return useSelect(read, select, isEqual);
};
