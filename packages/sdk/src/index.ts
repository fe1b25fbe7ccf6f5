import type { SyncClient } from "./api/sync-client.ts";
import { createShell } from "./client.ts";
import { systemClock, systemRandom } from "./engine/system.ts";
import type { ClientOptions } from "./options.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";

export type { ClaimOptions, ClaimsApi, Lease, OwnClaim, RecordClaims, SeenClaim } from "./api/claims/claims-api.ts";
export type { Blame, LastChange } from "./api/facts/blame.ts";
export type { FollowedWhere, FollowScope } from "./api/followed-scope.ts";
export type {
  CountQuery,
  Counts,
  Include,
  IncludeQuery,
  NoInclude,
  Place,
  Query,
  QueryRow,
  SortKey,
  Where,
} from "./api/lists/query.ts";
export type { LoadedPart, LoadOptions } from "./api/loading/loaded-part.ts";
export type { Presence, RoomPeer } from "./api/presence/presence-api.ts";
export type { AcceptOptions, ProposalQuery, ProposalsApi } from "./api/proposals/proposals-api.ts";
export type {
  AttentionItem,
  CommitOperation,
  CommitOptions,
  Conflict,
  ErasedRecord,
  ModelApi,
  PendingMutation,
  SyncClient,
  Transaction,
  TransactionModel,
} from "./api/sync-client.ts";
export { add, increment, remove } from "./api/writes/changes.ts";
export type { PendingExport } from "./api/writes/pending-export.ts";
export type {
  AttributionOptions,
  LeaseRef,
  UndoableWrite,
  UpdateOptions,
  Write,
  WriteOptions,
} from "./api/writes/write-api.ts";
export type { LossReason } from "./core/queue/failure.ts";
export type { OldOperation, Upcast } from "./core/schema/old-operation.ts";
export { schemaHash } from "./core/schema/schema-hash.ts";
export type { SyncStatus } from "./core/select.ts";
export type { LostStore, StorageTrouble } from "./core/state.ts";
export { isSyncError, SyncError } from "./errors.ts";
export type { ClientOptions } from "./options.ts";
export type { Proposal, ProposalStatus, ProposedOperation } from "./protocol/changes/proposal.ts";
export type { Claim } from "./protocol/claims/claim.ts";
export type { Action } from "./protocol/commits/action.ts";
export type { Change } from "./protocol/commits/change.ts";
export type { CommitReceipt } from "./protocol/commits/commit.ts";
export type { FieldChange, FieldChanges } from "./protocol/commits/field-change.ts";
export type { OnStale } from "./protocol/commits/stale.ts";
export type { ErrorCode, ErrorType, Remedy } from "./protocol/errors/error-codes.ts";
export type { Json, JsonObject } from "./protocol/json.ts";
export type { Field, Model, ModelSchema } from "./protocol/schema/model-schema.ts";
export type { Relation, RelationsOf } from "./protocol/schema/relations.ts";
export {
  defineSchema,
  type ModelName,
  type NewRow,
  type Patch,
  type RowFacts,
  type RowOf,
} from "./protocol/schema/row-types.ts";

/** Creates a client for browsers. It stores its queue and rows in IndexedDB and shares them with other tabs. */
export function createClient<const S extends ModelSchema>(options: ClientOptions<S>): SyncClient<S> {
  return createShell(
    {
      clock: systemClock,
      random: systemRandom,
      runtime: () => import("./browser-runtime.ts"),
      relations: () => import("./api/relations/joins.ts"),
      collab: () => import("./api/claims/collab.ts"),
    },
    options,
  );
}
