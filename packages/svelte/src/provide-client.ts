import type { ModelApi, ModelSchema, SyncClient } from "@holdfast/sdk";
import { getContext, setContext } from "svelte";

/** A client whose schema is not known here. */
export type AnyClient = SyncClient<ModelSchema>;

const KEY = Symbol("Holdfast client");

/** Provides a client to this component and those below it. You create and close the client. */
export function provideClient<S extends ModelSchema>(client: SyncClient<S>): void {
  setContext(KEY, client);
}

export function injectClient(): AnyClient {
  const client = getContext<AnyClient | undefined>(KEY);
  if (!client)
    throw new Error("No Holdfast client is provided here: call provideClient(client), or createBindings(client).");
  return client;
}

/** The model's API. For an unknown model, the error names the model. */
export function modelOf({ models }: AnyClient, model: string): ModelApi<ModelSchema, string> {
  const api = models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);
  return api;
}
