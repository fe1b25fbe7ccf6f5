import type { PendingMutation } from "@holdfast/sdk";
import type { IsEqual } from "../equal.ts";
import type { AnyClient } from "../model-of.ts";
import { useSelect } from "./use-select.ts";

const read = (client: AnyClient) => client.pending();

/** Writes that are not settled yet, oldest first. Use `select` to mark a record as unsaved. */
export const usePending = <T = readonly PendingMutation[]>(
  select?: (pending: readonly PendingMutation[]) => T,
  isEqual?: IsEqual<T>,
): T => useSelect(read, select, isEqual);
