import { useEffect } from "react";
import { preventUnsavedChanges, type UnsavedOptions } from "../prevent-unsaved-changes.ts";
import { useClient } from "./use-client.ts";

/** `preventUnsavedChanges` for as long as the component is there. It renders nothing again. */
export function usePreventUnsavedChanges({ until = "durable" }: UnsavedOptions = {}): void {
  const client = useClient();
  useEffect(() => preventUnsavedChanges(client, { until }), [client, until]);
}
