import { createHooks } from "@holdfast/react";
import type { BoardSchema } from "./schema.ts";

/** The hooks, with this board's types. */
export const {
  useAttention,
  useClaim,
  useClaims,
  useClient,
  useConflicts,
  useMutation,
  useMyPresence,
  useOthers,
  usePending,
  usePresenceStatus,
  useQuery,
  useRecord,
  useSelf,
  useSyncStatus,
} = createHooks<BoardSchema>();
