import type { SyncStatus } from "@holdfast/sdk";
import type { IsEqual } from "../equal.ts";
import type { AnyClient } from "../model-of.ts";
import { useSelect } from "./use-select.ts";

const read = (client: AnyClient) => client.status();

/**
 * The connection state and the number of pending writes. Use `select`, because the whole status changes with every
 * write.
 */
export const useSyncStatus = <T = SyncStatus>(select?: (status: SyncStatus) => T, isEqual?: IsEqual<T>): T =>
  useSelect(read, select, isEqual);
