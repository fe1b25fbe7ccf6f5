import { createHooks } from "@holdfast/react";
import type { BoardSchema } from "./schema.ts";

/** The hooks, with this board's types. */
export const { useAttention, useClient, useConflicts, useMutation, usePending, useQuery, useRecord, useSyncStatus } =
  createHooks<BoardSchema>();
