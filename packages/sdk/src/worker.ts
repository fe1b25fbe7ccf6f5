import { openCollab } from "./api/claims/collab.ts";
import { Joins } from "./api/relations/joins.ts";
import type { SyncClient } from "./api/sync-client.ts";
import { browserPorts } from "./browser/browser-ports.ts";
import { createShell } from "./client.ts";
import { systemClock, systemRandom } from "./engine/system.ts";
import type { ClientOptions } from "./options.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import { openRuntime } from "./runtime.ts";
import { indexedDbStorage } from "./storage/indexeddb.ts";
import { mergeText } from "./text/merge-text.ts";

export { add, increment, remove } from "./api/writes/changes.ts";
export { schemaHash } from "./core/schema/schema-hash.ts";
export { isSyncError, SyncError } from "./errors.ts";
export type {
  AcceptOptions,
  Action,
  AttentionItem,
  AttributionOptions,
  Blame,
  Change,
  Claim,
  ClaimOptions,
  ClaimsApi,
  ClientOptions,
  CommitOperation,
  CommitOptions,
  CommitReceipt,
  Conflict,
  CountQuery,
  Counts,
  ErasedRecord,
  ErrorCode,
  ErrorType,
  Field,
  FieldChange,
  FieldChanges,
  FollowedWhere,
  FollowScope,
  Include,
  IncludeQuery,
  Json,
  JsonObject,
  LastChange,
  Lease,
  LeaseRef,
  LoadedPart,
  LoadOptions,
  LossReason,
  LostStore,
  Model,
  ModelApi,
  ModelName,
  ModelSchema,
  NewRow,
  NoInclude,
  OldOperation,
  OnStale,
  OwnClaim,
  Patch,
  PendingExport,
  PendingMutation,
  Place,
  Presence,
  Proposal,
  ProposalQuery,
  ProposalStatus,
  ProposalsApi,
  ProposedOperation,
  Query,
  QueryRow,
  RecordClaims,
  Relation,
  RelationsOf,
  Remedy,
  RoomPeer,
  RowFacts,
  RowOf,
  SeenClaim,
  SortKey,
  StorageTrouble,
  SyncClient,
  SyncStatus,
  Transaction,
  TransactionModel,
  UndoableWrite,
  Upcast,
  UpdateOptions,
  Where,
  Write,
  WriteOptions,
} from "./index.ts";
export { defineSchema } from "./protocol/schema/row-types.ts";

/**
 * Creates a client as `createClient` of `@holdfast/sdk` does, for places where `import()` is forbidden, such as a module
 * service worker. All of its code is loaded at once.
 */
export function createClient<const S extends ModelSchema>(options: ClientOptions<S>): SyncClient<S> {
  return createShell(
    {
      clock: systemClock,
      random: systemRandom,
      relations: async () => ({ Joins }),
      collab: async () => ({ openCollab }),
      runtime: async () => ({
        openRuntime: (deps) =>
          openRuntime(
            {
              ...browserPorts(deps.clock, deps.settings.persist),
              storage: async (name) => indexedDbStorage({ name }),
              merging: async () => ({ mergeText }),
            },
            deps,
          ),
      }),
    },
    options,
  );
}
