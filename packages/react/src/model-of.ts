import type { ModelApi, ModelSchema, RowOf, SyncClient } from "@holdfast/sdk";

/** A client and a row of which only the shape is known: what the hooks work with inside. */
export type AnyClient = SyncClient<ModelSchema>;
export type AnyRow = RowOf<ModelSchema, string>;

/** The model's part of the client; a misspelt name is told by name, not as "undefined has no property". */
export function modelOf(client: AnyClient, model: string): ModelApi<ModelSchema, string> {
  const api = client.models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);
  return api;
}
