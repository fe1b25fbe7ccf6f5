import type { ModelName, ModelSchema } from "@holdfast/sdk";
import { useContext } from "react";
import type { IsEqual } from "../equal.ts";
import { isSeeded, SeedContext } from "../hydration/hydration.ts";
import { stillClient } from "../hydration/inert-client.ts";
import { arrival } from "../hydration/ready-promise.ts";
import type { AnyRow } from "../model-of.ts";
import { useClient } from "./use-client.ts";
import type { ShownQuery } from "./use-loaded-query.ts";
import { type UseQuery, useQuery } from "./use-query.ts";
import { type UseRecord, useRecord } from "./use-record.ts";

/** `useQuery` that suspends until the client's rows can be read or a snapshot contains the result. */
export const useSuspenseQuery: UseQuery<ModelSchema> = <T = readonly AnyRow[]>(
  model: string,
  query?: ShownQuery<ModelSchema, string> | "skip",
  select?: (rows: readonly AnyRow[]) => T,
  isEqual?: IsEqual<T>,
) => {
  const answer = useQuery(model, query, select, isEqual);
  // A snapshot knows the query without it.
  useArrival(model, typeof query === "object" ? { ...query, load: undefined } : query);
  return answer;
};

/** `useRecord` that suspends in the same way. Undefined then means that the record does not exist. */
export const useSuspenseRecord: UseRecord<ModelSchema> = <T = AnyRow>(
  model: string,
  id: string,
  select?: (row: AnyRow) => T,
  isEqual?: IsEqual<T | undefined>,
) => {
  const answer = useRecord(model, id, select, isEqual);
  useArrival(model, id, answer !== undefined);
  return answer;
};

function useArrival(model: ModelName<ModelSchema>, query: Asked, isThere = false): void {
  const client = useClient();
  const seed = useContext(SeedContext);
  if (isThere || query === "skip" || isSeeded(client, seed, model, query)) return;
  if (client === stillClient)
    throw new Error(
      `The snapshot has no answer for ${JSON.stringify([model, query])}: pass this query to dehydrate().`,
    );
  const needs = typeof query === "object" && query.staleOk === false ? "complete" : "any";
  const waiting = arrival(client, needs);
  if (waiting) throw waiting;
}

type Asked = ShownQuery<ModelSchema, string> | string | undefined;
