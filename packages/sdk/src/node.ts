import type { SyncClient } from "./api/sync-client.ts";
import { noSignals } from "./browser/signals.ts";
import { alone } from "./browser/tabs.ts";

import { systemClock, systemRandom } from "./engine/system.ts";
import { closingSocket } from "./node/closing-socket.ts";
import type { FileStorage } from "./node/file-storage.ts";

import { openedNow } from "./node/opened-now.ts";
import { undiciExchange } from "./node/undici-exchange.ts";
import { type ClientOptions, checkOptions } from "./options.ts";
import { createClientOn } from "./platform.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import { memoryStorage } from "./storage/memory.ts";

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
export { type FileStorage, fileStorage } from "./node/file-storage.ts";
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

export interface NodeClientOptions<S extends ModelSchema> extends ClientOptions<S> {
  /**
   * Where to store queue and rows: `fileStorage("./agent.db")`. Without it they are lost with the process, so call
   * `drain` before it exits.
   */
  readonly storage?: FileStorage | undefined;
}

/** Creates a client for agents and scripts. Throws a `SyncError` at once if the storage cannot be its store. */
export function createClient<const S extends ModelSchema>(options: NodeClientOptions<S>): SyncClient<S> {
  const { storage: file, ...rest } = options;
  const { store } = checkOptions(rest);
  const opened = file && openedNow(() => file.open(store));
  const client = createClientOn(
    {
      clock: systemClock,
      random: systemRandom,
      inMemory: !opened,
      storage: async () => (opened ? opened.storage() : memoryStorage()),
      tabs: alone,
      signals: noSignals,
      exchange: undiciExchange(),
      WebSocket: closingSocket(),
    },
    rest,
  );
  return opened ? { ...client, close: () => client.close().finally(opened.close) } : client;
}
