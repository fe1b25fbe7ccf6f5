import type { AttentionItem } from "@holdfast/sdk";
import type { IsEqual } from "../equal.ts";
import type { AnyClient } from "../model-of.ts";
import { useSelect } from "./use-select.ts";

const read = (client: AnyClient) => client.attention();

/** Writes that were refused. Each waits for `retry()` or `discard()`; none is dropped by itself. */
export const useAttention = <T = readonly AttentionItem[]>(
  select?: (items: readonly AttentionItem[]) => T,
  isEqual?: IsEqual<T>,
): T => useSelect(read, select, isEqual);
