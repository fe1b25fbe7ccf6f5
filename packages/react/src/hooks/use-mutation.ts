import type { ModelApi, ModelName, ModelSchema, SyncClient } from "@holdfast/sdk";
import { useMemo } from "react";
import { modelOf } from "../model-of.ts";
import { useClient } from "./use-client.ts";

type Commit<S extends ModelSchema> = Pick<SyncClient<S>, "commit">;
type Writes<S extends ModelSchema, M extends ModelName<S>> = Pick<
  ModelApi<S, M>,
  "create" | "update" | "delete" | "archive" | "unarchive"
>;

export interface UseMutation<S extends ModelSchema> {
  (): Commit<S>;
  <M extends ModelName<S>>(model: M): Writes<S, M> & Commit<S>;
}

/**
 * The write methods of one model, and `commit` for several operations at once. Each write is shown at once, is queued
 * durably and returns a `Write`. The returned object stays the same between renders.
 */
export const useMutation = ((model?: string) => {
  const client = useClient();
  return useMemo(() => {
    const { commit } = client;
    if (model === undefined) return { commit };
    const { create, update, delete: remove, archive, unarchive } = modelOf(client, model);
    return { create, update, delete: remove, archive, unarchive, commit };
  }, [client, model]);
}) as UseMutation<ModelSchema>;
