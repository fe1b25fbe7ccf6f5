import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { createContext, type ReactElement, type ReactNode } from "react";
import { stillClient } from "./hydration/inert-client.ts";

/** Holds any client; `createHooks` restores the schema's types. */
export const ClientContext = createContext<SyncClient<ModelSchema> | undefined>(undefined);

/**
 * Provides a client to the hooks below it. It neither creates nor closes the client, so that a remounted tree (or
 * StrictMode, which mounts twice) never loses the connection or the queue. On a server, pass `undefined`: then hooks
 * read only the page's snapshot.
 */
export function SyncProvider<S extends ModelSchema>(props: {
  client: SyncClient<S> | undefined;
  children?: ReactNode | undefined;
}): ReactElement {
  const client = props.client as unknown as SyncClient<ModelSchema> | undefined;
  return <ClientContext.Provider value={client ?? stillClient}>{props.children}</ClientContext.Provider>;
}
