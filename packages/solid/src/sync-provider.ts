import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { createComponent, createContext, type JSX, useContext } from "solid-js";

/** A client whose schema is not known here. */
export type AnyClient = SyncClient<ModelSchema>;

const ClientContext = createContext<AnyClient>();

/** Provides a client to the components below it. You create and close the client. */
export const SyncProvider = <S extends ModelSchema>(props: {
  readonly client: SyncClient<S>;
  readonly children?: JSX.Element;
}): JSX.Element =>
  createComponent(ClientContext.Provider, {
    value: props.client as unknown as AnyClient,
    get children() {
      return props.children;
    },
  });

export function useProvidedClient(): AnyClient {
  const client = useContext(ClientContext);
  if (!client)
    throw new Error("No Holdfast client is provided here: use <SyncProvider client={…}>, or createBindings(client).");
  return client;
}
