import { defineSchema } from "@holdfast/sdk";
import { createHooks } from "../create-hooks.ts";

/** A schema for the hooks' tests, and the hooks with its types. */
export const boardSchema = defineSchema({
  models: {
    slide: {
      fields: {
        deckId: { type: "string" },
        title: { type: "string", required: true },
        order: { type: "number", default: 0 },
      },
    },
    note: { fields: { body: { type: "string", merge: "text" }, title: { type: "string", nullable: true } } },
    person: { fields: { name: { type: "string", required: true } } },
  },
});
export type BoardSchema = typeof boardSchema;

export const {
  useAttention,
  useClaim,
  useClaims,
  useClient,
  useConflicts,
  useCount,
  useCountBy,
  useDraft,
  useMutation,
  useMyPresence,
  useOthers,
  usePending,
  usePresenceStatus,
  useQuery,
  useQueryState,
  useRecord,
  useSelf,
  useSuspenseQuery,
  useSuspenseRecord,
  useSyncStatus,
} = createHooks<BoardSchema>();
