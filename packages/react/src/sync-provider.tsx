import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { createContext, type ReactElement, type ReactNode } from "react";

/** Holds any client: the schema's types are put back by `createHooks`, where the app names its schema. */
export const ClientContext = createContext<SyncClient<ModelSchema> | undefined>(undefined);

/**
 * Lends a client to the hooks below it. It neither makes the client nor closes it: whoever made it does, so that a
 * remounted tree (or StrictMode, which mounts twice) never loses the connection or the queue.
 */
export function SyncProvider<S extends ModelSchema>(props: {
  client: SyncClient<S>;
  children?: ReactNode;
}): ReactElement {
  return (
    <ClientContext.Provider value={props.client as unknown as SyncClient<ModelSchema>}>
      {props.children}
    </ClientContext.Provider>
  );
}
