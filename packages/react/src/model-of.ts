import type { ModelApi, ModelSchema, RowOf, SyncClient } from "@holdfast/sdk";

/** A client and a row with unspecific types, for use inside the hooks. */
export type AnyClient = SyncClient<ModelSchema>;
export type AnyRow = RowOf<ModelSchema, string>;

/** The model's API. For an unknown model, the error names the model. */
export function modelOf(client: AnyClient, model: string): ModelApi<ModelSchema, string> {
  const api = client.models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);
  return api;
}
