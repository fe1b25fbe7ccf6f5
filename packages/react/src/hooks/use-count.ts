import type { CountQuery, Counts, ModelName, ModelSchema, RowOf } from "@holdfast/sdk";
import { useCallback } from "react";
import { countNow, type Seed } from "../hydration/hydration.ts";
import { type AnyClient, modelOf } from "../model-of.ts";
import { noCounts } from "../none.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useSelect } from "./use-select.ts";

export type UseCount<S extends ModelSchema> = <M extends ModelName<S>>(
  model: M,
  query?: CountQuery<S, M> | "skip",
) => number;

export type UseCountBy<S extends ModelSchema> = <M extends ModelName<S>, F extends keyof RowOf<S, M> & string>(
  model: M,
  field: F,
  query?: CountQuery<S, M> | "skip",
) => Counts<S, M, F>;

/** How many records match. `"skip"` counts nothing: 0. */
export const useCount: UseCount<ModelSchema> = (model, query) => {
  const asked = useFirstOfEquals(query);
  const read = useCallback(
    (client: AnyClient, seed: Seed | undefined) => (asked === "skip" ? 0 : countNow(client, seed, model, asked)),
    [model, asked],
  );
  return useSelect(read);
};

/** How many of the matching records have which value of a field. `"skip"` counts nothing. */
export const useCountBy: UseCountBy<ModelSchema> = (model, field, query) => {
  const asked = useFirstOfEquals(query);
  const read = useCallback(
    (client: AnyClient) => (asked === "skip" ? noCounts : modelOf(client, model).countBy(field, asked)),
    [model, field, asked],
  );
  return useSelect(read, undefined, Object.is);
};
