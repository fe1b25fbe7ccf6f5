import type { ModelName, ModelSchema, RowOf } from "@holdfast/sdk";
import { useCallback } from "react";
import { type IsEqual, shallowEqual } from "../equal.ts";
import { recordNow, type Seed } from "../hydration/hydration.ts";
import type { AnyClient, AnyRow } from "../model-of.ts";
import { useSelect } from "./use-select.ts";

export type UseRecord<S extends ModelSchema> = <M extends ModelName<S>, T = RowOf<S, M>>(
  model: M,
  id: string | "skip",
  select?: (row: RowOf<S, M>) => T,
  isEqual?: IsEqual<T | undefined>,
) => T | undefined;

/**
 * One record as the user should see it now, or undefined if it does not exist. With `select`, only its result; `"skip"`
 * instead of an id reads nothing.
 */
export const useRecord: UseRecord<ModelSchema> = <T = AnyRow>(
  model: string,
  id: string,
  select?: (row: AnyRow) => T,
  isEqual: IsEqual<T | undefined> = shallowEqual,
) => {
  const read = useCallback(
    (client: AnyClient, seed: Seed | undefined) => (id === "skip" ? undefined : recordNow(client, seed, model, id)),
    [model, id],
  );
  const pick = (row: AnyRow | undefined) => (row && select ? select(row) : (row as T | undefined));
  return useSelect(read, pick, isEqual);
};
