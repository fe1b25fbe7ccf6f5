import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { createContext, type ReactElement, type ReactNode } from "react";
import { stillClient } from "./hydration/inert-client.ts";

/** Holds any client: the schema's types are put back by `createHooks`, where the app names its schema. */
export const ClientContext = createContext<SyncClient<ModelSchema> | undefined>(undefined);

/**
 * Lends a client to the hooks below it. It neither makes the client nor closes it: whoever made it does, so that a
 * remounted tree (or StrictMode, which mounts twice) never loses the connection or the queue. On a server, where there
 * is no client, it is given `undefined`: then the page's snapshot is read, and nothing else.
 */
export function SyncProvider<S extends ModelSchema>(props: {
  client: SyncClient<S> | undefined;
  children?: ReactNode;
}): ReactElement {
  const client = props.client as unknown as SyncClient<ModelSchema> | undefined;
  return <ClientContext.Provider value={client ?? stillClient}>{props.children}</ClientContext.Provider>;
}
