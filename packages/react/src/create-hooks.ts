import type { ModelSchema } from "@holdfast/sdk";
import { useAttention } from "./hooks/use-attention.ts";
import { type UseClaim, useClaim } from "./hooks/use-claim.ts";
import { type UseClaims, useClaims } from "./hooks/use-claims.ts";
import { type UseClient, useClient } from "./hooks/use-client.ts";
import { useConflicts } from "./hooks/use-conflicts.ts";
import { type UseMutation, useMutation } from "./hooks/use-mutation.ts";
import { usePending } from "./hooks/use-pending.ts";
import { useMyPresence, useOthers, usePresenceStatus, useSelf } from "./hooks/use-presence.ts";
import { usePreventUnsavedChanges } from "./hooks/use-prevent-unsaved-changes.ts";
import { type UseQuery, useQuery } from "./hooks/use-query.ts";
import { type UseRecord, useRecord } from "./hooks/use-record.ts";
import { useSuspenseQuery, useSuspenseRecord } from "./hooks/use-suspense.ts";
import { useSyncStatus } from "./hooks/use-sync-status.ts";

/** The hooks with the types of one schema. */
export interface Hooks<S extends ModelSchema> {
  readonly useClient: UseClient<S>;
  readonly useRecord: UseRecord<S>;
  readonly useQuery: UseQuery<S>;
  readonly useSuspenseRecord: UseRecord<S>;
  readonly useSuspenseQuery: UseQuery<S>;
  readonly useMutation: UseMutation<S>;
  readonly useSyncStatus: typeof useSyncStatus;
  readonly useConflicts: typeof useConflicts;
  readonly usePending: typeof usePending;
  readonly useAttention: typeof useAttention;
  readonly useClaim: UseClaim<S>;
  readonly useClaims: UseClaims<S>;
  readonly usePreventUnsavedChanges: typeof usePreventUnsavedChanges;
  readonly useMyPresence: typeof useMyPresence;
  readonly useOthers: typeof useOthers;
  readonly useSelf: typeof useSelf;
  readonly usePresenceStatus: typeof usePresenceStatus;
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
  useSuspenseRecord,
  useSuspenseQuery,
  useMutation,
  useSyncStatus,
  useConflicts,
  usePending,
  useAttention,
  useClaim,
  useClaims,
  usePreventUnsavedChanges,
  useMyPresence,
  useOthers,
  useSelf,
  usePresenceStatus,
};
