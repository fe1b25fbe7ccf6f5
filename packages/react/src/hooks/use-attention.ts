import type { AttentionItem } from "@holdfast/sdk";
import type { IsEqual } from "../equal.ts";
import type { AnyClient } from "../model-of.ts";
import { useSelect } from "./use-select.ts";

const read = (client: AnyClient) => client.attention();

/** Rejected writes. Each waits for `retry()`, `edit()` or `discard()`; none is dropped automatically. */
export const useAttention = <T = readonly AttentionItem[]>(
  select?: (items: readonly AttentionItem[]) => T,
  isEqual?: IsEqual<T>,
): T => useSelect(read, select, isEqual);
