import type { SyncStatus } from "@holdfast/sdk";
import type { IsEqual } from "../equal.ts";
import type { AnyClient } from "../model-of.ts";
import { useSelect } from "./use-select.ts";

const read = (client: AnyClient) => client.status();

/** Connected or not, and how much waits. `select` what you show: the whole status changes with every write. */
export const useSyncStatus = <T = SyncStatus>(select?: (status: SyncStatus) => T, isEqual?: IsEqual<T>): T =>
  useSelect(read, select, isEqual);
