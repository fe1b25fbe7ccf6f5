import type { Ignorance } from "../../core/claims/watched.ts";
import type { SyncError } from "../../errors.ts";
import type { Claim } from "../../protocol/claims/claim.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { ModelName, Patch } from "../../protocol/schema/row-types.ts";
import type { LeaseRef, Write, WriteOptions } from "../writes/write-api.ts";

export interface ClaimOptions {
  /** Claims only this field. Claims on different fields of a record can coexist. */
  readonly field?: string | undefined;
  /**
   * How long the claim lasts without renewal: `30s`, `5m`, or milliseconds; 1 s to 1 h, default 60 s. The client renews
   * it automatically.
   */
  readonly ttl?: string | number | undefined;
  /**
   * Whether to wait in the claim queue if another participant holds the record. Default false: `claim` rejects with
   * `claim_conflict`.
   */
  readonly queue?: boolean | undefined;
  /** Called while waiting, with the number of participants ahead; 0 means next. */
  readonly onPosition?: ((position: number) => void) | undefined;
  /** Leaves the claim queue when aborted. It has no effect on a granted lease. */
  readonly signal?: AbortSignal | undefined;
  /** What the claim is for, shown to people. */
  readonly description?: string | undefined;
  /** The intended action; default `edit`. */
  readonly action?: string | undefined;
  /** Custom data of the caller, up to 4 KiB of JSON. */
  readonly meta?: JsonObject | undefined;
  /** What the author is doing, by its own name: see `run` of a write. */
  readonly run?: string | undefined;
  /** For whom, as `user:ann`: see `onBehalfOf` of a write. */
  readonly onBehalfOf?: string | undefined;
  /** Takes the claim from an agent at once. Requires a token with `claim.preempt`. */
  readonly preempt?: boolean | undefined;
}

/**
 * A held claim: no other participant can write there until it is released or lost. The client renews it automatically.
 */
export interface Lease<S extends ModelSchema = ModelSchema, M extends ModelName<S> = ModelName<S>> extends LeaseRef {
  readonly model: M;
  readonly field: string | undefined;
  /**
   * Grows with every grant on the record. Pass it to other systems, so that they can reject requests of a former
   * holder.
   */
  readonly fence: number;
  /** Aborts when the lease is lost, with the error as its reason. Pass it to work that depends on the lease. */
  readonly signal: AbortSignal;
  /** Resolves when the lease is lost, with an error whose `reason` says why. It does not resolve on a release. */
  readonly lost: Promise<SyncError>;
  /** How long the lease is still reliable without another renewal; 0: not any more. */
  remainingMs(): number;
  /** Writes under the claim: if the claim was lost, the write becomes a conflict and overwrites nothing. */
  update(patch: Patch<S, M>, options?: Omit<WriteOptions, "claim">): Write;
  delete(options?: Omit<WriteOptions, "claim">): Write;
  archive(options?: Omit<WriteOptions, "claim">): Write;
  unarchive(options?: Omit<WriteOptions, "claim">): Write;
  /**
   * Releases the claim after the writes under it have reached the server. Resolves when the server has confirmed the
   * release or the claim has expired.
   */
  release(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A claim, with its relation to this participant. */
export type SeenClaim = Claim & {
  /** Whether it belongs to this participant, perhaps in another tab or on another device. */
  readonly isMine: boolean;
};

export interface RecordClaims {
  /**
   * - `known`: the claims are up to date.
   * - `unknown`: the record may be free or claimed. It is not watched, the response is pending, no stream is open, more
   * than 500 records of the model are watched and this one is older, or the token may not see it.
   */
  readonly state: "known" | "unknown";
  readonly why?: Ignorance;
  /** The holders: one for the whole record, or several for fields. */
  readonly holders: readonly SeenClaim[];
  /** The participants in the claim queue, next one first. */
  readonly queue: readonly SeenClaim[];
}

/** A claim that this participant holds or waits for, perhaps on another device, or left over from an ended process. */
export type OwnClaim = Claim & {
  /** This client holds it or waits for it now. */
  readonly isInUse: boolean;
  /**
   * It belongs to the store of this client: it was made by this client, another tab, or an earlier process with the
   * store.
   */
  readonly isOfThisStore: boolean;
  /**
   * Releases it after the writes under it in this store have reached the server. Resolves when the server has
   * confirmed.
   */
  release(): Promise<void>;
};

export interface ClaimsApi<S extends ModelSchema> {
  /** Watches the claims of these records. Returns a function that stops watching. */
  watch(model: ModelName<S>, ids: readonly string[]): () => void;
  /** What is known about a watched record. Returns the same object until something in it changes. */
  of(model: ModelName<S>, id: string): RecordClaims;
  /**
   * Requests all claims that this participant holds or waits for, on any record. A worker with its own store can
   * release claims of an earlier process when it starts: those that belong to this store and are not in use.
   */
  mine(): Promise<readonly OwnClaim[]>;
}
