import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { type App, type InjectionKey, inject, provide } from "vue";

/** A client whose schema is not known here. */
export type AnyClient = SyncClient<ModelSchema>;

const KEY: InjectionKey<AnyClient> = Symbol("Holdfast client");

/**
 * Provides a client to the components below this one or, given an app, to all of it: `provideClient(client, app)`. You
 * create and close the client.
 */
export function provideClient<S extends ModelSchema>(client: SyncClient<S>, app?: App): void {
  const given = client as unknown as AnyClient;
  if (app) app.provide(KEY, given);
  else provide(KEY, given);
}

export function injectClient(): AnyClient {
  const client = inject(KEY, undefined);
  if (!client)
    throw new Error("No Holdfast client is provided here: call provideClient(client), or createBindings(client).");
  return client;
}
