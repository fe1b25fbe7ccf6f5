import type {
  AttentionItem,
  Conflict,
  CountQuery,
  FollowedWhere,
  Include,
  JsonObject,
  LoadOptions,
  ModelApi,
  ModelName,
  ModelSchema,
  NoInclude,
  PendingMutation,
  Query,
  QueryRow,
  RoomPeer,
  RowFacts,
  RowOf,
  SyncClient,
  SyncStatus,
} from "@holdfast/sdk";
import type { LiveClaim, LiveClaimOptions, LiveClaimState, LiveRoom, PartState } from "@holdfast/sdk/bindings";
import type { Current, Given } from "./use-live-value.ts";

type Commit<S extends ModelSchema> = Pick<SyncClient<S>, "commit">;
type Writes<S extends ModelSchema, M extends ModelName<S>> = Pick<
  ModelApi<S, M>,
  "create" | "update" | "delete" | "archive" | "unarchive"
>;

/** A claim that a component shows. */
export interface UsedClaim extends Current<LiveClaimState>, Pick<LiveClaim, "claim" | "takeOver" | "release"> {}

/** This client in a room. `set` replaces its state, until the component is destroyed. */
export interface MyPresence extends Current<JsonObject>, Pick<LiveRoom, "set"> {}

/**
 * What a component uses, with the types of one schema. Arguments may be getters, which may read state; `"skip"` reads
 * nothing. Call `useClaim`, `useMyPresence`, `useOthers` and `useLoad` while a component is initialized: they work until it
 * is destroyed. The others work anywhere, while a template, an effect or a derived reads `current`.
 */
export interface Bindings<S extends ModelSchema> {
  /** The client itself, for everything else: `drain`, `pause`, `resume`. */
  useClient(): SyncClient<S>;
  /** The matching records, in order. */
  useQuery<M extends ModelName<S>, const I extends Include<S, M> = NoInclude>(
    model: M,
    query?: Given<Query<S, M, I> | "skip" | undefined>,
  ): Current<readonly QueryRow<S, M, I>[]>;
  /** One record as the user should see it now, or undefined if it does not exist. */
  useRecord<M extends ModelName<S>>(model: M, id: Given<string | "skip">): Current<RowOf<S, M> | undefined>;
  /** How many records match. */
  useCount<M extends ModelName<S>>(model: M, query?: Given<CountQuery<S, M> | "skip" | undefined>): Current<number>;
  /** `commit`, for several operations at once, and the write methods of a model. */
  useMutation(): Commit<S>;
  useMutation<M extends ModelName<S>>(model: M): Writes<S, M> & Commit<S>;
  /** The connection state and the number of pending writes. */
  useSyncStatus(): Current<SyncStatus>;
  /** Writes that were not applied, because of a change or a claim of someone else, until you resolve them. */
  useConflicts(): Current<readonly Conflict[]>;
  /** The writes that are not settled yet. */
  usePending(): Current<readonly PendingMutation[]>;
  /** Rejected writes, until you retry, edit or discard them. */
  useAttention(): Current<readonly AttentionItem[]>;
  /** The holder of a record or one of its fields, and this client's own claim on it. All components share one claim. */
  useClaim(model: ModelName<S>, id: Given<string | "skip">, options?: Given<LiveClaimOptions | undefined>): UsedClaim;
  /** This client's state in a room. Others see `initial` until `set` is called. */
  useMyPresence(room: Given<string>, initial?: JsonObject): MyPresence;
  /** The other participants in a room, each listed once. */
  useOthers(room: Given<string>): Current<readonly RoomPeer[]>;
  /** Loads the records that meet these conditions, as `client.load` does, until the component is destroyed. */
  useLoad<M extends ModelName<S>>(
    model: M,
    where: Given<FollowedWhere<Omit<RowOf<S, M>, keyof RowFacts>> | "skip">,
    options?: LoadOptions<S, M>,
  ): Current<PartState>;
}
