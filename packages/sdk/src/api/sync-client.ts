import type { SyncStatus } from "../core/select.ts";
import type { SyncError } from "../errors.ts";
import type { Decide } from "../protocol/changes/decide.ts";
import type { Propose } from "../protocol/changes/propose.ts";
import type { Claim } from "../protocol/claims/claim.ts";
import type { Action } from "../protocol/commits/action.ts";
import type { Attribution } from "../protocol/commits/attribution-of.ts";
import type { OnStale } from "../protocol/commits/stale.ts";
import type { ErrorCode } from "../protocol/errors/error-codes.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { DataOf, ModelName, NewRow, Patch, RowOf } from "../protocol/schema/row-types.ts";
import type { ClaimOptions, ClaimsApi, Lease } from "./claims/claims-api.ts";
import type { Blame } from "./facts/blame.ts";
import type { FollowedWhere, FollowScope } from "./followed-scope.ts";
import type { CountQuery, Counts, Include, NoInclude, Query, QueryRow } from "./lists/query.ts";
import type { LoadedPart, LoadOptions } from "./loading/loaded-part.ts";
import type { Presence } from "./presence/presence-api.ts";
import type { ProposalsApi } from "./proposals/proposals-api.ts";
import type { PendingExport } from "./writes/pending-export.ts";
import type { UndoableWrite, UpdateOptions, Write, WriteOptions } from "./writes/write-api.ts";

/** The client of an app. Reads return at once from memory. Writes are shown at once and queued durably. */
export interface SyncClient<S extends ModelSchema> {
  /** The schema that the client was given. */
  readonly schema: S;
  readonly models: { readonly [M in ModelName<S>]: ModelApi<S, M> };
  /** Who holds which of the watched records. To claim a record, use its model: `models.slide.claim(id)`. */
  readonly claims: ClaimsApi<S>;
  /** Writes that others ask for, and that this client decides. */
  readonly proposals: ProposalsApi;
  /** A room (a sync group such as `deck:d1`) in which people and agents see each other. */
  presence(room: string): Presence;
  /** Commits several operations together or not at all. */
  commit(operations: readonly CommitOperation<S>[], options?: CommitOptions<S>): UndoableWrite;
  /**
   * Commits everything that the function does, together or not at all: `client.transact((tx) => { const id =
   * tx.project.create({ … }); tx.task.create({ projectId: id }); })`. If it throws, nothing is written. Up to 100
   * operations. The function cannot be async.
   */
  transact(build: (transaction: Transaction<S>) => void, options?: CommitOptions<S>): UndoableWrite;
  status(): SyncStatus;
  /** Writes that were not applied because someone else changed the same fields or held a claim. */
  conflicts(): readonly Conflict[];
  /** All writes that are not settled yet, oldest first. */
  pending(): readonly PendingMutation[];
  /**
   * Rejected writes that wait for a decision: retry, edit or discard them. None is dropped automatically. With the code
   * `unowned`: several owners have used this store, and the client did not know whose write it was. `retry` keeps it as
   * the present owner's.
   */
  attention(): readonly AttentionItem[];
  /** Called after every change of the results above, or of a model's `get` and `list`. */
  subscribe(listener: () => void): () => void;
  /**
   * Called for each record that was erased on the server, when the client has read that and has none of its values any
   * more. Remove your own copies then. Returns a function that ends that.
   */
  onErased(listener: (record: ErasedRecord) => void): () => void;
  /**
   * Resolves when the rows of the local store or of the first snapshot can be read; with `rows: "complete"`, when they
   * are all that the server has (see `rows` of the status).
   */
  ready(options?: { readonly rows?: "any" | "complete" | undefined }): Promise<void>;
  /**
   * Resolves when every write made so far is settled or needs a decision. Rejects with a `SyncError` after `timeoutMs`.
   */
  drain(options?: { timeoutMs?: number | undefined }): Promise<void>;
  /**
   * Closes the client because its user signs out. `keep`: the store stays, and its queued writes are sent when the user
   * returns. `discard`: deletes everything from this device, in all tabs, including unsent writes.
   */
  signOut(options: { pending: "keep" | "discard" }): Promise<void>;
  /**
   * Reads only these records from now on, in all tabs: those of these models, in one of these groups, that meet these
   * conditions (`where: { issue: { projectId: "p1" } }`); `{}`: all that the token covers. Present rows are shown until the new ones have arrived; then unwanted rows are removed, also from
   * disk. Writes are sent whichever records are followed.
   */
  follow(scope: FollowScope<S>): void;
  /**
   * Loads the records of a model that meet conditions, and keeps them up to date: until they are released, and after that
   * as long as there is room. For models of which `follow` names a list of conditions:
   * `follow: { where: { issue: [] } }` begins with no issues, and `load("issue", { projectId })` adds those of a project.
   * Throws for an unknown model or field.
   */
  load<M extends ModelName<S>>(model: M, where: FollowedWhere<DataOf<S, M>>, options?: LoadOptions<S, M>): LoadedPart;
  /** Exports all unsettled writes, for a file or another device. */
  exportPending(): Promise<PendingExport>;
  /**
   * Imports the result of `exportPending`, and resolves with the number of writes that were new here. Writes keep their
   * names, so that none is committed twice, and are sent as this client's participant. Rejects with `invalid_export`, and
   * with `other_owner` if the export belongs to another owner, or the owner of one of its writes is not known; with `adopt`,
   * its writes become this client's.
   */
  importPending(exported: unknown, options?: { readonly adopt?: boolean | undefined }): Promise<number>;
  /** Stops all requests until `resume`, as if there were no network. Writes are queued meanwhile. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export interface ModelApi<S extends ModelSchema, M extends ModelName<S>> {
  /** Creates a record. Generates an id if none is given. */
  create(data: NewRow<S, M>, options?: WriteOptions & { id?: string | undefined }): UndoableWrite;
  update(id: string, patch: Patch<S, M>, options?: UpdateOptions): UndoableWrite;
  delete(id: string, options?: WriteOptions): UndoableWrite;
  archive(id: string, options?: WriteOptions): UndoableWrite;
  unarchive(id: string, options?: WriteOptions): UndoableWrite;
  /** The record as the user should see it: the row with this client's unsettled writes on top. */
  get(id: string): RowOf<S, M> | undefined;
  /**
   * Claims the record, or one of its fields, so that no other participant can write there. Resolves with the lease when
   * it is granted, at once or after waiting in the claim queue. `await using lease = await
   * client.models.slide.claim(id)`.
   */
  claim(id: string, options?: ClaimOptions): Promise<Lease<S, M>>;
  /**
   * Returns the same array until something in it changes. Archived rows are left out unless the query includes them.
   */
  list<const I extends Include<S, M> = NoInclude>(query?: Query<S, M, I>): readonly QueryRow<S, M, I>[];
  /**
   * Calls the listener with the list at once, and then whenever something in it changes. Returns a function that ends
   * that. Throws for an invalid query.
   */
  subscribe<const I extends Include<S, M> = NoInclude>(
    query: Query<S, M, I>,
    listener: (rows: readonly QueryRow<S, M, I>[]) => void,
  ): () => void;
  /** How many records match. */
  count(query?: CountQuery<S, M>): number;
  /** Whether a record matches. */
  exists(query?: CountQuery<S, M>): boolean;
  /**
   * What is known of a query's records: `complete`, they are all that the server has; `partial`, they may be old, or
   * others may not be loaded; `loading`, they are being read for the first time.
   */
  status(query?: Query<S, M, Include<S, M>>): SyncStatus["rows"];
  /**
   * How many of the matching records have which value of a field; those without one count as null. Returns the same map
   * until a count changes.
   */
  countBy<F extends keyof RowOf<S, M> & string>(field: F, query?: CountQuery<S, M>): Counts<S, M, F>;
  /**
   * Asks the server who set each field last, and why, as far as its log reaches. Rejects with a `SyncError` if it cannot be
   * reached, or there is no such record.
   */
  blame(id: string): Promise<Blame<keyof RowOf<S, M> & string>>;
}

export type CommitOperation<S extends ModelSchema> = {
  [M in ModelName<S>]:
    | { action: "create"; model: M; id?: string; data: NewRow<S, M> }
    | { action: "update"; model: M; id: string; data: Patch<S, M> }
    | { action: "delete" | "archive" | "unarchive"; model: M; id: string };
}[ModelName<S>];

/** The models inside of `transact`. Each method adds an operation to the commit. */
export type Transaction<S extends ModelSchema> = { readonly [M in ModelName<S>]: TransactionModel<S, M> };

export interface TransactionModel<S extends ModelSchema, M extends ModelName<S>> {
  /** Returns the record's id, for references to it. */
  create(data: NewRow<S, M>, options?: { readonly id?: string | undefined }): string;
  update(id: string, patch: Patch<S, M>): void;
  delete(id: string): void;
  archive(id: string): void;
  unarchive(id: string): void;
}

export interface CommitOptions<S extends ModelSchema> extends WriteOptions {
  /** Premises: rows, fields of rows, or groups that must not have changed since they were read. */
  reads?:
    | readonly (
        | {
            model: ModelName<S>;
            id: string;
            fields?: readonly string[] | undefined;
            readAt?: number | undefined;
            onStale?: OnStale | undefined;
          }
        | { group: string; readAt?: number | undefined; onStale?: OnStale | undefined }
      )[]
    | undefined;
}

export interface PendingMutation {
  readonly clientTxId: string;
  readonly phase: "saving" | "queued" | "sending" | "confirmed" | "blocked";
  readonly operations: readonly {
    readonly action: Action;
    readonly model: string;
    readonly id: string;
    readonly data?: JsonObject | undefined;
    /** How far the log was read in what the writer saw. */
    readonly readAt?: number | undefined;
  }[];
  /** Why it was made, if its author said so. */
  readonly attribution?: Attribution;
  /** `propose`: it asks for the write. `decide`: it accepts or rejects a proposal. */
  readonly asks?: { readonly propose?: Propose | undefined; readonly decide?: Decide | undefined };
  readonly createdAt: number;
  readonly attempts: number;
}

export interface Conflict {
  readonly clientTxId: string;
  /**
   * - `stale`: someone else changed the same fields.
   * - `claim_lost`: the claim of the write had ended.
   * - `claim_conflict`: someone else held the record.
   *
   * In each case nothing was written.
   */
  readonly reason: "stale" | "claim_lost" | "claim_conflict";
  /** The holders of the record when the write was refused for a claim. May be empty. */
  readonly holders: readonly Claim[];
  readonly model: string;
  readonly id: string;
  /** The conflicted write's operation on the record. */
  readonly action: Action;
  /** Fields that both sides changed; for a claim conflict, all fields that mine changes. */
  readonly fields: readonly string[];
  /**
   * The values that this client wanted to write, including its later writes to the same record. If it creates the record
   * again, the created values; if it deletes it in the end, none.
   */
  readonly mine: JsonObject;
  /** The values of the same fields when this client read them. */
  readonly base: JsonObject;
  /** The present values of the same fields; null if the record was deleted. */
  readonly theirs: JsonObject | null;
  /** `<participantKind>:<participantId>` of the other writer or holder. Empty if a claim just ended. */
  readonly writtenBy: string;
  readonly observedSyncId: number;
  /** Sends mine again, on top of the present values. */
  keepMine(): Write;
  /** Drops the conflicting fields, and sends the other changes of the write. */
  takeTheirs(): void;
  /**
   * Sends these values for the conflicting fields instead. If theirs is deleted, the record is created from them, and
   * from mine.
   */
  merge(patch: JsonObject): Write;
}

/** A record that was erased: all its values were removed, from the log too. */
export interface ErasedRecord {
  /** As the schema spells it. */
  readonly model: string;
  readonly id: string;
}

/** An operation from `operations`, or a replacement for one. */
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
  /** Sends the write again unchanged, under a new name. */
  retry(): Write;
  /** Sends these operations instead, under a new name, based on the present values. */
  edit(operations: readonly EditedOperation[]): Write;
  /** Drops the write and shows the rows without it. */
  discard(): void;
}
