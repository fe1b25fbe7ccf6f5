import { createHooks } from "@holdfast/react";
import type { schema } from "./schema.ts";

/** The hooks with the types of the schema. They use the client of the nearest `SyncProvider`. */
export const {
  useAttention,
  useClaim,
  useClient,
  useConflicts,
  useDraft,
  useMutation,
  useMyPresence,
  useOthers,
  usePending,
  usePresenceStatus,
  useQueryState,
  useRecord,
  useSyncStatus,
} = createHooks<typeof schema>();
