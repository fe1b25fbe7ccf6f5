import type { SyncClient } from "./api/sync-client.ts";
import { createShell } from "./client.ts";
import { systemClock, systemDice } from "./engine/system.ts";
import type { ClientOptions } from "./options.ts";
import type { ModelSchema } from "./protocol/model-schema.ts";

export type { ClaimOptions, ClaimsApi, Lease, OwnClaim, RecordClaims, SeenClaim } from "./api/claims-api.ts";
export type { PendingExport } from "./api/pending-export.ts";
export type { Presence, RoomPeer } from "./api/presence-api.ts";
export type {
  AttentionItem,
  CommitOperation,
  CommitOptions,
  Conflict,
  ModelApi,
  PendingMutation,
  Query,
  SyncClient,
  SyncStatus,
  Where,
} from "./api/sync-client.ts";
export type { LeaseRef, Write, WriteOptions } from "./api/write-api.ts";
export type { LossReason } from "./core/failure.ts";
export type { OldOperation, Upcast } from "./core/old-operation.ts";
export type { Scope } from "./core/rows.ts";
export { schemaHash } from "./core/schema-hash.ts";
export type { LostStore, StorageTrouble } from "./core/state.ts";
export { isSyncError, SyncError } from "./errors.ts";
export type { ClientOptions } from "./options.ts";
export type { Claim } from "./protocol/claim.ts";
export type { CommitReceipt } from "./protocol/commit.ts";
export type { ErrorCode, ErrorType, Remedy } from "./protocol/error-codes.ts";
export type { Json, JsonObject } from "./protocol/json.ts";
export type { Field, Model, ModelSchema } from "./protocol/model-schema.ts";
export type { Action } from "./protocol/operation.ts";
export { defineSchema, type ModelName, type NewRow, type Patch, type RowOf } from "./protocol/row-types.ts";
export type { OnStale } from "./protocol/stale.ts";

/** A client for browsers: it keeps its queue and rows in IndexedDB and shares them with the other tabs. */
export function createClient<const S extends ModelSchema>(options: ClientOptions<S>): SyncClient<S> {
  return createShell({ clock: systemClock, dice: systemDice, part: () => import("./browser-part.ts") }, options);
}
