import type { ModelSchema } from "@holdfast/sdk";
import { useAttention } from "./hooks/use-attention.ts";
import { type UseClaim, useClaim } from "./hooks/use-claim.ts";
import { type UseClaims, useClaims } from "./hooks/use-claims.ts";
import { type UseClient, useClient } from "./hooks/use-client.ts";
import { useConflicts } from "./hooks/use-conflicts.ts";
import { type UseCount, type UseCountBy, useCount, useCountBy } from "./hooks/use-count.ts";
import { type UseDraft, useDraft } from "./hooks/use-draft.ts";
import { type UseMutation, useMutation } from "./hooks/use-mutation.ts";
import { usePending } from "./hooks/use-pending.ts";
import { useMyPresence, useOthers, usePresenceStatus, useSelf } from "./hooks/use-presence.ts";
import { usePreventUnsavedChanges } from "./hooks/use-prevent-unsaved-changes.ts";
import { type UseProposals, useProposals } from "./hooks/use-proposals.ts";
import { type UseQuery, useQuery } from "./hooks/use-query.ts";
import { type UseQueryState, useQueryState } from "./hooks/use-query-state.ts";
import { type UseRecord, useRecord } from "./hooks/use-record.ts";
import { useSuspenseQuery, useSuspenseRecord } from "./hooks/use-suspense.ts";
import { useSyncStatus } from "./hooks/use-sync-status.ts";
import { useUndo } from "./hooks/use-undo.ts";

/** The hooks with the types of one schema. */
export interface Hooks<S extends ModelSchema> {
  readonly useClient: UseClient<S>;
  readonly useRecord: UseRecord<S>;
  readonly useQuery: UseQuery<S>;
  readonly useQueryState: UseQueryState<S>;
  readonly useCount: UseCount<S>;
  readonly useCountBy: UseCountBy<S>;
  readonly useSuspenseRecord: UseRecord<S>;
  readonly useSuspenseQuery: UseQuery<S>;
  readonly useMutation: UseMutation<S>;
  readonly useDraft: UseDraft<S>;
  readonly useSyncStatus: typeof useSyncStatus;
  readonly useConflicts: typeof useConflicts;
  readonly usePending: typeof usePending;
  readonly useAttention: typeof useAttention;
  readonly useClaim: UseClaim<S>;
  readonly useClaims: UseClaims<S>;
  readonly useProposals: UseProposals<S>;
  readonly usePreventUnsavedChanges: typeof usePreventUnsavedChanges;
  readonly useMyPresence: typeof useMyPresence;
  readonly useOthers: typeof useOthers;
  readonly useSelf: typeof useSelf;
  readonly usePresenceStatus: typeof usePresenceStatus;
  readonly useUndo: typeof useUndo;
}

/**
 * Returns the hooks with the types of your schema. Call it once and export the result:
 *
 * `export const { useQuery, useRecord, useMutation } = createHooks<typeof schema>();`
 *
 * They are the same functions that this package exports by name; only the types differ.
 */
export const createHooks = <S extends ModelSchema>(): Hooks<S> => hooks as unknown as Hooks<S>;

const hooks: Hooks<ModelSchema> = {
  useClient,
  useRecord,
  useQuery,
  useQueryState,
  useCount,
  useCountBy,
  useSuspenseRecord,
  useSuspenseQuery,
  useMutation,
  useDraft,
  useSyncStatus,
  useConflicts,
  usePending,
  useAttention,
  useClaim,
  useClaims,
  useProposals,
  usePreventUnsavedChanges,
  useMyPresence,
  useOthers,
  useSelf,
  usePresenceStatus,
  useUndo,
};
