import { useEffect } from "react";
import { preventUnsavedChanges, type UnsavedOptions } from "../prevent-unsaved-changes.ts";
import { useClient } from "./use-client.ts";

/** Applies `preventUnsavedChanges` as long as the component is mounted. It causes no renders. */
export function usePreventUnsavedChanges({ until = "durable" }: UnsavedOptions = {}): void {
  const client = useClient();
  useEffect(() => preventUnsavedChanges(client, { until }), [client, until]);
}
