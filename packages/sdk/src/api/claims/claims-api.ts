import type { Ignorance } from "../../core/claims/watched.ts";
import type { SyncError } from "../../errors.ts";
import type { Claim } from "../../protocol/claims/claim.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { ModelName, Patch } from "../../protocol/schema/row-types.ts";
import type { LeaseRef, Write, WriteOptions } from "../writes/write-api.ts";

export interface ClaimOptions {
  /** Claims one field only: claims of different fields exist beside each other. */
  readonly field?: string;
  /** How long it lasts without a sign of life: `30s`, `5m`, or milliseconds; 1 s to 1 h, default 60 s. It is renewed as long as it is held. */
  readonly ttl?: string | number;
  /** Whether to wait in the line when somebody else holds it. Default false: then `claim` rejects with `claim_conflict`. */
  readonly queue?: boolean;
  /** Called while it waits: how many are before it; 0 is next. */
  readonly onPosition?: (position: number) => void;
  /** Aborting it leaves the line. It has no effect on a lease that was granted. */
  readonly signal?: AbortSignal;
  /** What it is about, for people. */
  readonly description?: string;
  /** What the caller intends to do; default `edit`. */
  readonly action?: string;
  /** The caller's own notes, up to 4 KiB of JSON. */
  readonly meta?: JsonObject;
  /** Takes the claim from an agent at once; for people and systems whose token has `claim.preempt`. */
  readonly preempt?: boolean;
}

/** A claim that is held: nobody else writes there until it is released or lost. It is renewed by itself. */
export interface Lease<S extends ModelSchema = ModelSchema, M extends ModelName<S> = ModelName<S>> extends LeaseRef {
  readonly model: M;
  readonly field: string | undefined;
  /** Grows with every grant on that record: give it to systems that should refuse what an older holder still sends. */
  readonly fence: number;
  /** Aborts when the lease is lost, with the error that says why. Give it to whatever is done under the lease. */
  readonly signal: AbortSignal;
  /** Resolves when the lease is lost, with the error whose `reason` says why; not when it is released. */
  readonly lost: Promise<SyncError>;
  /** How long the lease may be relied on if no further answer comes; 0: not any more. */
  remainingMs(): number;
  /** Writes under the claim: if it was lost meanwhile, nothing is overwritten, and the write becomes a conflict. */
  update(patch: Patch<S, M>, options?: Omit<WriteOptions, "claim">): Write;
  delete(options?: Omit<WriteOptions, "claim">): Write;
  archive(options?: Omit<WriteOptions, "claim">): Write;
  unarchive(options?: Omit<WriteOptions, "claim">): Write;
  /**
   * Gives it up, after the writes that were made under it have reached the server; resolves when the server has heard of
   * it, or the claim has ended by itself.
   */
  release(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A claim as others see it. */
export type SeenClaim = Claim & {
  /** Whether it is this participant's: perhaps of another tab or device. */
  readonly isMine: boolean;
};

export interface RecordClaims {
  /**
   * `known`: as the server has it. `unknown` says nothing, not even that the record is free: it is not watched, the
   * answer is on its way, no stream is open, more than 500 records of the model are watched and this one is older, or
   * the token may not see it.
   */
  readonly state: "known" | "unknown";
  readonly why?: Ignorance;
  /** Who holds it: one for the whole record, or several for fields. */
  readonly holders: readonly SeenClaim[];
  /** Who waits, the next one first. */
  readonly queue: readonly SeenClaim[];
}

/** A claim that this participant holds or waits for: perhaps of another device, or of a process that has ended. */
export type OwnClaim = Claim & {
  /** This client holds it or waits for it now. */
  readonly isInUse: boolean;
  /** It was made by the store of this client: by this client, by another tab, or by a process that had the store before. */
  readonly isOfThisStore: boolean;
  /** Gives it up, after the writes under it that wait in this store have reached the server. Resolves when the server has heard of it. */
  release(): Promise<void>;
};

export interface ClaimsApi<S extends ModelSchema> {
  /** Listens to the claims of these records, until the function that is given back is called. */
  watch(model: ModelName<S>, ids: readonly string[]): () => void;
  /** What is known of a watched record. The same object as long as nothing in it changes. */
  of(model: ModelName<S>, id: string): RecordClaims;
  /**
   * Asks the server for all claims that this participant holds or waits for, on any record. A worker that has a store of
   * its own gives back at its start what a process before it has left: those that are of this store and not in use.
   */
  mine(): Promise<readonly OwnClaim[]>;
}
