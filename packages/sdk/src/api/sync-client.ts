import type { LostStore, StorageTrouble } from "../core/state.ts";
import type { SyncError } from "../errors.ts";
import type { Claim } from "../protocol/claims/claim.ts";
import type { Action } from "../protocol/commits/operation.ts";
import type { OnStale } from "../protocol/commits/stale.ts";
import type { ErrorCode } from "../protocol/errors/error-codes.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { ModelName, NewRow, Patch, RowOf } from "../protocol/schema/row-types.ts";
import type { ClaimOptions, ClaimsApi, Lease } from "./claims/claims-api.ts";
import type { Presence } from "./presence/presence-api.ts";
import type { PendingExport } from "./writes/pending-export.ts";
import type { Write, WriteOptions } from "./writes/write-api.ts";

/** The client as an app holds it. Reads answer from memory at once; writes are queued durably and shown at once. */
export interface SyncClient<S extends ModelSchema> {
  readonly models: { readonly [M in ModelName<S>]: ModelApi<S, M> };
  /** Who holds which records, as far as they are watched. Claiming itself is each model's: `models.slide.claim(id)`. */
  readonly claims: ClaimsApi<S>;
  /** A room (a sync group, such as `deck:d1`) in which people and agents see each other. */
  presence(room: string): Presence;
  /** Several operations that happen together or not at all. */
  commit(operations: readonly CommitOperation<S>[], options?: CommitOptions<S>): Write;
  status(): SyncStatus;
  /** Writes that were held because somebody else changed the same fields meanwhile. */
  conflicts(): readonly Conflict[];
  /** Every write that the log has not settled yet, oldest first. */
  pending(): readonly PendingMutation[];
  /** Writes that were refused and wait for a decision: retry them or discard them. Nothing is dropped by itself. */
  attention(): readonly AttentionItem[];
  /** Called after every change of what the questions above, or a model's `get` and `list`, would answer. */
  subscribe(listener: () => void): () => void;
  /** Resolves when the rows of the first snapshot, or of the local store, can be read. */
  ready(): Promise<void>;
  /** Resolves when every write made so far is settled or needs a decision. Rejects with a `SyncError` after `timeoutMs`. */
  drain(options?: { timeoutMs?: number }): Promise<void>;
  /**
   * Closes the client because its person goes. `keep`: the store stays, and what waits in it is sent when they come
   * back. `discard`: everything is taken off this device, in all tabs, also what was never sent.
   */
  signOut(options: { pending: "keep" | "discard" }): Promise<void>;
  /**
   * Reads these records from now on, in all tabs: of these models, in one of these groups; `{}`: all that the token
   * covers. Rows that are there are shown until the others have come; then those that are not wanted go, from the disk
   * too. Writes are sent whatever is followed.
   */
  follow(scope: { models?: readonly ModelName<S>[]; groups?: readonly string[] }): void;
  /** All that waits, for a file or for another device. */
  exportPending(): Promise<PendingExport>;
  /**
   * Takes in what `exportPending` gave, and tells how many writes were new here. They keep their names, so that none
   * is done twice; they are sent as whoever this client is. Rejects with `invalid_export`.
   */
  importPending(exported: unknown): Promise<number>;
  /** Stops all traffic until `resume`, as if the network were gone; writes are queued meanwhile. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export interface ModelApi<S extends ModelSchema, M extends ModelName<S>> {
  /** Makes an id when none is given. */
  create(data: NewRow<S, M>, options?: WriteOptions & { id?: string }): Write;
  update(id: string, patch: Patch<S, M>, options?: WriteOptions): Write;
  delete(id: string, options?: WriteOptions): Write;
  archive(id: string, options?: WriteOptions): Write;
  unarchive(id: string, options?: WriteOptions): Write;
  /** The record as the user should see it now: the log's rows with this client's unsettled writes on top. */
  get(id: string): RowOf<S, M> | undefined;
  /**
   * Claims the record, or one field of it, so that nobody else writes there: resolves with the lease when it is
   * granted, at once or after waiting in the line. `await using lease = await client.models.slide.claim(id)`.
   */
  claim(id: string, options?: ClaimOptions): Promise<Lease<S, M>>;
  /** The same array is returned as long as nothing in it changed. Archived rows are left out unless asked for. */
  list(query?: Query<S, M>): readonly RowOf<S, M>[];
}

export type Where<Row> = {
  readonly [F in keyof Row]?: Value<Row[F]> | Operators<Value<Row[F]>>;
};

/** A field that may be absent is asked for with null. */
type Value<T> = Exclude<T, undefined> | (undefined extends T ? null : never);

export interface Operators<T> {
  readonly in?: readonly T[];
  readonly gt?: T;
  readonly gte?: T;
  readonly lt?: T;
  readonly lte?: T;
}

export interface Query<S extends ModelSchema, M extends ModelName<S>> {
  readonly where?: Where<RowOf<S, M>>;
  /** Ties are broken by id. */
  readonly orderBy?: keyof RowOf<S, M> & string;
  readonly order?: "asc" | "desc";
  readonly limit?: number;
  readonly archived?: "without" | "only" | "with";
}

export type CommitOperation<S extends ModelSchema> = {
  [M in ModelName<S>]:
    | { action: "create"; model: M; id?: string; data: NewRow<S, M> }
    | { action: "update"; model: M; id: string; data: Patch<S, M> }
    | { action: "delete" | "archive" | "unarchive"; model: M; id: string };
}[ModelName<S>];

export interface CommitOptions<S extends ModelSchema> extends WriteOptions {
  /** Premises: rows, fields of rows, or groups that must not have moved since they were read. */
  reads?: readonly (
    | { model: ModelName<S>; id: string; fields?: readonly string[]; readAt?: number; onStale?: OnStale }
    | { group: string; readAt?: number; onStale?: OnStale }
  )[];
}

export type SyncStatus = {
  /**
   * `starting`: the local store is being read. `connecting`, `online`, `offline` (no network), `paused` (by the app),
   * `needs-auth`: the token was refused and no new one came, though the app could be asked. `storage-failed`: nothing
   * can be queued durably.
   */
  readonly name: "starting" | "connecting" | "online" | "offline" | "paused" | "needs-auth" | "storage-failed";
  /**
   * Whether this tab sends, and reads the log, for all tabs of the browser profile. False while another one does, while
   * this one is paused, and when it has lost the disk: then it sends for itself alone. In Node a client shares its store
   * with no other, so it is true whenever the client is not paused.
   */
  readonly leads: boolean;
  /** Writes that the log has not settled. */
  readonly pending: number;
  readonly conflicts: number;
  readonly attention: number;
  /** When the oldest unsettled write was made (ms since 1970), or undefined: the health number. */
  readonly oldestPendingAt: number | undefined;
  /** Position that this client's rows have reached. */
  readonly syncId: number;
  /** When the next attempt is due (ms since 1970), if one is waiting. */
  readonly retryAt: number | undefined;
  readonly reason: string | undefined;
  /**
   * Where writes are kept: `memory` in Node without a file, and after the disk failed, which `storageTrouble` tells the
   * kind of. They do not survive a reload then.
   */
  readonly storage: "opening" | "disk" | "memory";
  readonly storageTrouble: StorageTrouble["code"] | undefined;
  /**
   * Whether the browser has promised not to clear the store by itself. It is asked with the first queued write. Safari
   * clears it all the same when the site was not used for seven days.
   */
  readonly persisted: boolean | undefined;
  /** The store that was here before is gone: cleared by the browser or by somebody. What had not been sent went with it. */
  readonly lostStore: LostStore | undefined;
  /** While a snapshot is being read: how many rows have come. Those of a first one are shown as they come. */
  readonly loadedRows: number | undefined;
  /** Models of the app that the token may not read, or that the server's schema does not have (yet). Nothing of them is shown. */
  readonly unreadable: readonly string[];
};

export interface PendingMutation {
  readonly clientTxId: string;
  readonly phase: "saving" | "queued" | "sending" | "confirmed" | "blocked";
  readonly operations: readonly {
    readonly action: Action;
    readonly model: string;
    readonly id: string;
    readonly data?: JsonObject | undefined;
  }[];
  readonly createdAt: number;
  readonly attempts: number;
}

export interface Conflict {
  readonly clientTxId: string;
  /**
   * `stale`: somebody changed the same fields. `claim_lost`: the claim that it was written under had ended.
   * `claim_conflict`: somebody else held the record. Nothing was written in any case.
   */
  readonly reason: "stale" | "claim_lost" | "claim_conflict";
  /** Who held the record when the write was refused for a claim; empty: nobody. */
  readonly holders: readonly Claim[];
  readonly model: string;
  readonly id: string;
  /** What the held write wanted to do to the record. */
  readonly action: Action;
  /** Fields that both sides wrote; when it was a claim that stood against it, all that mine writes. */
  readonly fields: readonly string[];
  /** What this client wanted to write, its later writes to the same record included. */
  readonly mine: JsonObject;
  /** The same fields as they were when this client read them. */
  readonly base: JsonObject;
  /** The same fields as they are now; null when the record was deleted. */
  readonly theirs: JsonObject | null;
  /** `<participantKind>:<participantId>` of who wrote there, or holds it; empty when a claim just ended. */
  readonly writtenBy: string;
  readonly observedSyncId: number;
  /** Sends mine again, on top of what is there now. */
  keepMine(): Write;
  /** Gives up the conflicting fields; what else the write changed is sent. */
  takeTheirs(): void;
  /** Sends these values for the conflicting fields instead. */
  merge(patch: JsonObject): Write;
}

/** An operation as `operations` gives it, or another one in its stead. */
export interface EditedOperation {
  readonly action: Action;
  readonly model: string;
  readonly id: string;
  readonly data?: JsonObject | undefined;
}

export interface AttentionItem {
  readonly clientTxId: string;
  readonly code: ErrorCode | string;
  readonly error: SyncError;
  readonly operations: PendingMutation["operations"];
  readonly createdAt: number;
  /** Sends it again, under a new name, as it is. */
  retry(): Write;
  /** Sends these operations in its place, under a new name, as written in view of what is there now. */
  edit(operations: readonly EditedOperation[]): Write;
  /** Forgets it, and shows the log's rows. */
  discard(): void;
}
