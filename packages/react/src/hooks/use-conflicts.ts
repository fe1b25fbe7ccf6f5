import type { Conflict } from "@holdfast/sdk";
import type { IsEqual } from "../equal.ts";
import type { AnyClient } from "../model-of.ts";
import { useSelect } from "./use-select.ts";

const read = (client: AnyClient) => client.conflicts();

/**
 * Writes that were not applied because someone else changed the same fields or held a claim. Resolve each with
 * `keepMine()`, `takeTheirs()` or `merge(patch)`.
 */
export const useConflicts = <T = readonly Conflict[]>(
  select?: (conflicts: readonly Conflict[]) => T,
  isEqual?: IsEqual<T>,
): T => useSelect(read, select, isEqual);
