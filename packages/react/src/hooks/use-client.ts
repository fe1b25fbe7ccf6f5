import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { useContext } from "react";
import { ClientContext } from "../sync-provider.tsx";

export type UseClient<S extends ModelSchema> = () => SyncClient<S>;

/** The client of the nearest `<SyncProvider>`. Use it for what has no hook: `drain`, `pause`, `resume`. */
export const useClient: UseClient<ModelSchema> = () => {
  const client = useContext(ClientContext);
  if (!client) throw new Error("A Holdfast hook was called outside of <SyncProvider client={…}>.");
  return client;
};
