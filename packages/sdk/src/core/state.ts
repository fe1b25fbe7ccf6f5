import type { Row } from "../protocol/commits/apply.ts";
import type { Model, ModelSchema } from "../protocol/schema/model-schema.ts";
import type { Wait } from "./connection/retry.ts";
import { type AddedParts, noRows, type PartialSnapshot, type Rows, type Scope, type Subscribed } from "./log/rows.ts";
import { type Tables, tableOf } from "./log/tables.ts";
import type { Mutation, Removed } from "./queue/mutation.ts";
import { emptyQueue, type Queue } from "./queue/queue.ts";
import type { SeqSet } from "./queue/reconcile/seq-set.ts";
import type { Upcast } from "./schema/old-operation.ts";
import { schemaHash } from "./schema/schema-hash.ts";
import type { LeaderConnection, QueueChanged, QueueNumbers } from "./tabs/tab-message.ts";

/**
 * The whole state of a client in one immutable value. Only `step` creates a new one. Each field belongs to one machine,
 * and only that machine's folder changes it (`set` in `draft.ts`, `npm test -- layers`).
 */
export interface ClientState extends AppFacts, StoreState, SessionState, ReplicaState, QueueState, TabsState {}

/** What the app gave. */
export interface AppFacts {
  /** The app's models by lower-case name. These and their fields have no prototype, so an unknown name has no value. */
  readonly models: Readonly<Record<string, Model>>;
  readonly schemaHash: string;
  /** Functions that convert operations of an older schema, by that schema's hash. */
  readonly upcasts: Readonly<Record<string, Upcast>>;
  /** The app asked for no storage on disk. */
  readonly inMemory: boolean;
  /** Whether to open sockets, or only to poll the log. */
  readonly sockets: boolean;
}

/** The store on the device (`core/store`). */
export interface StoreState {
  readonly life: "starting" | "running";
  readonly clientId: string;
  /** Distinguishes the store from an earlier one of the same name, which was cleared. Undefined until it is open. */
  readonly storeId: string | undefined;
  /** The store is chosen after its owner is known. Undefined: it has been chosen, or the tab has not asked yet. */
  readonly choosing: "connecting" | "offline" | "paused" | "needs-auth" | undefined;
  /** Why the disk cannot be used. Undefined if it can. */
  readonly storageTrouble: StorageTrouble | undefined;
  /**
   * Whether the browser promised not to evict the store. Undefined: not asked yet, or the platform has no such promise.
   */
  readonly persisted: boolean | undefined;
  /** A previous store was cleared, together with the writes queued in it. */
  readonly lostStore: LostStore | undefined;
}

/** Who the client is to the server, and whether it is connected (`core/connection`). */
export interface SessionState {
  /** The owner of the store. Undefined until the server has named it (`owner.ts`). */
  readonly owner: string | undefined;
  /** Another owner has asked for this store. */
  readonly others: boolean;
  /** The owner that the app has named (`connection/owner-name.ts`). */
  readonly named: string | undefined;
  /** Asking the server for the owner of a follower's token. */
  readonly asking: { readonly isUnder: boolean; readonly wait: Wait | undefined; readonly againAt: number | undefined };
  /** The owner of the present token, once the server has named it. */
  readonly tokenOwner: string | undefined;
  /** The owner of the last token that was the store's owner's. */
  readonly lastOwner: string | undefined;
  /** The last token belonged to another owner, so the store's data is hidden until a token of its owner arrives. */
  readonly withheld: boolean;
  /** Why they are hidden. */
  readonly withheldReason: string | undefined;
  /** Bytes of JSON that the server lets a record have, as it said last. Undefined: it has not. */
  readonly recordBytes?: number | undefined;
  /** When to request the next token from the app while the present one is valid, and when to retry. */
  readonly renewal: Renewal | undefined;
  readonly auth: AuthState;
  readonly paused: boolean;
  readonly network: boolean;
  /** The page is hidden or cached by the browser: it has no socket until it is shown again, or until this time. */
  readonly awayUntil: number | undefined;
  readonly stream: StreamLink;
  /** From the last welcome: this participant as `<kind>:<id>`, and the id of this session. */
  readonly self: { readonly participant: string; readonly session: string } | undefined;
  /** The last failure of any request, for people. */
  readonly trouble: string | undefined;
}

/** The records that the client has, and how it gets those that it lacks (`core/log`). */
export interface ReplicaState {
  /** The wanted scope; `rows` names the scope that was read. */
  readonly scope: Scope;
  /** What the app followed last, in this tab or in one that was open then: the wanted scope without what was loaded. */
  readonly followed: Scope;
  readonly rows: Rows;
  readonly reading: Reading;
  /** The parts that the stream follows. Undefined: it was opened with models and conditions, or it is not open. */
  readonly subscribed?: Subscribed | undefined;
  /** The app's models that the token may not read, as the app spells them. */
  readonly unreadable: readonly string[];
}

/** The writes that are not settled, and what is shown of them (`core/queue`, `core/conflicts`). */
export interface QueueState {
  readonly queue: Queue;
  readonly shared: SharedQueue;
  readonly sending: Sending;
  readonly clock: DeviceClock | undefined;
  /** Key of an erased record → position of the erasure, as far as this tab has read it since it was opened. */
  readonly erased: ReadonlyMap<string, number>;
  /**
   * Records with unsettled writes as the user should see them; null: absent. Other records are shown as in the rows.
   */
  readonly overlay: Tables<Row | null>;
  /** Keys of the records whose view the last event may have changed. */
  readonly touched: readonly string[] | "everything";
  /** During a step: writes that it appended to the queue. For these, they are all that changes in the view. */
  readonly appended: readonly Mutation[];
}

/** The tabs of one browser profile, of which one leads (`core/tabs`). */
export interface TabsState {
  /** Whether this tab sends for all tabs. "reading": it was just elected and reads the stored queue first. */
  readonly lead: "no" | "reading" | "yes";
  /** The generation of this leader. The store accepts its changes only while no other tab has a higher one. */
  readonly generation: number | undefined;
  readonly tabs: OtherTabs;
}

export interface DeviceClock {
  /** How far the wall clock was ahead of the monotonic one at the last step (ms). */
  readonly offset: number;
  /** When the client started, by the wall clock. */
  readonly startedAt: number;
  /** `offset` when the server said its time last, or the client asked for it again. */
  readonly checkedOffset: number;
  /** How far it is ahead of the server's (ms). Undefined: the server has not said its time, or not since it was asked. */
  readonly ahead?: number | undefined;
}

export type AuthState =
  /** The token works, or no token has been refused yet. */
  | { readonly phase: "trusted" }
  /** The token was refused or unavailable; the app is asked for another one. */
  | { readonly phase: "asking"; readonly attempt: number }
  /** The app gave another token; the next response shows whether it works. */
  | { readonly phase: "trying"; readonly attempt: number }
  /** The new token did not help. Everything waits, and the app is asked again at intervals. */
  | {
      readonly phase: "refused";
      readonly wait: Wait;
      readonly reason: string;
      /** The app's token source could not be reached. This is a network problem, so the user need not sign in. */
      readonly unreachable: boolean;
    };

export interface Renewal {
  readonly at: number;
  /** When the present token expires. */
  readonly endsAt: number;
}

export interface StorageTrouble {
  /**
   * - `full`: the disk is full.
   * - `quota`: the browser gives this site no more room.
   * - `blocked`: another tab keeps the store from opening.
   * - `unavailable`: there is no storage, as in some private windows.
   * - `newer`: a newer version of the app wrote the store.
   * - `damaged`: the store cannot be read.
   * - `lost`: the store was closed repeatedly.
   * - `cleared`: the store was emptied while in use.
   * - `failed`: anything else.
   */
  readonly code:
    | "full"
    | "quota"
    | "blocked"
    | "unavailable"
    | "newer"
    | "damaged"
    | "lost"
    | "cleared"
    | "failed"
    | (string & {});
  readonly reason: string;
}

/** What the eviction marker says about a cleared store. */
export interface LostStore {
  /** The number of queued writes when the marker was written, and the time of that (ms since 1970). */
  readonly pending: number;
  readonly notedAt: number;
}

/** What this tab knows of the other tabs. */
export interface OtherTabs {
  /** Another tab is listening, so a leader sends it what it receives. */
  readonly listening: boolean;
  /** The state of the leader's connection, as last received. */
  readonly connection: LeaderConnection | undefined;
  /** Other tabs may use the same store, so this tab finds out the owner of its own token. */
  readonly areShared: boolean;
  /** This tab stays out of the election, because its token belongs to another owner. */
  readonly skipsElection: boolean;
  /** The app uses claims or presence, so this tab needs its own socket. */
  readonly ownSocket: boolean;
}

/** What this tab knows of the queue on disk, which all tabs change. */
export interface SharedQueue {
  /** The `seq` numbers that this tab knows. */
  readonly seqs: SeqSet;
  /** The number of the last change that was applied. */
  readonly changes: number;
  /** Changes that arrived before their predecessors. */
  readonly outOfOrder: readonly ReceivedChange[];
  /** How much of the queue other tabs know. */
  readonly knownElsewhere: QueueNumbers;
  /** Writes that were settled here but may still be on disk. A reload that finds them must not add them again. */
  readonly settled: readonly Removed[];
  /** Writes that other tabs announced, and when to reload the queue for each: a few times, at growing intervals. */
  readonly announced: readonly { readonly clientTxId: string; readonly at: number; readonly reloads: number }[];
  /** Pending decisions that delete writes from disk. Nothing is sent until they are stored or refused. */
  readonly dropping: number;
  /** When to reload the queue if missing writes or changes have not arrived by then. */
  readonly gapAt: number | undefined;
  /** The number of reloads in progress. */
  readonly reloads: number;
  /** Writes of this profile that the log contained before this tab knew them: the rows include them. */
  readonly logged: readonly string[];
}

/** `isOwn`: this tab made the change and has already applied its `put`. */
export type ReceivedChange = QueueChanged & { readonly isOwn?: boolean };

/** The stored queue at one moment. */
export interface QueueSnapshot {
  readonly mutations: readonly Mutation[];
  /** The number of changes so far, not counting new writes. */
  readonly changes: number;
  /** The last `seq` that was assigned. */
  readonly lastSeq: number;
  /** The generation of the latest leader; 0: no tab has ever led. */
  readonly generation: number;
  /** Undefined: they have read no further than the rows here. */
  readonly rows: Rows | undefined;
}

export interface StreamLink {
  readonly phase: "closed" | "opening" | "live";
  /** Until this time a lost stream still counts as live, so that a short reconnect does not change the status. */
  readonly missedAt?: number | undefined;
  /** While it is live: where the log ended when it began. Entries up to there are on their way. */
  readonly upTo?: number;
  /** Failed attempts since the stream was last live. */
  readonly failures: number;
  readonly wait: Wait | undefined;
}

export interface Reading {
  /** The read in flight. There is at most one. */
  readonly under: "nothing" | "snapshot" | "log";
  readonly wait: Wait | undefined;
  /**
   * The rows must be read again. "suspect": they may belong to another log, so nothing is sent until then. "parts": they
   * only lack parts of the scope.
   */
  readonly resync: "no" | "parts" | "anew" | "suspect";
  /** Parts that are read beside the stream. */
  readonly added?: AddedParts | undefined;
  /** Whether the server on the present connection has confirmed that its log is the one of the rows. */
  readonly verified: boolean;
  /** A position that exists in the log but was not delivered. */
  readonly missing: number | undefined;
  /** The missing position at the time of the last request. */
  readonly requested?: number | undefined;
  /** Without a stream: when to poll the log next. */
  readonly pollAt: number | undefined;
  /** A snapshot of which only the first pages have been read. */
  readonly partial: PartialRead | undefined;
  /** The page size to request, as a share of the maximum: a slow connection gets small pages. */
  readonly share: number;
}

export interface PartialRead extends PartialSnapshot {
  /** Whether those pages are on disk. */
  readonly isKept: boolean;
}

export interface Sending {
  /** Counts requests, so that a response to an abandoned request is not taken for the present one's. */
  readonly request: number;
  /** Names of the writes in the request in flight. */
  readonly names: readonly string[] | undefined;
  /** How many commits a request may contain at present. */
  readonly size: number;
  readonly wait: Wait | undefined;
}

export function initialState(given: {
  schema: ModelSchema;
  paused: boolean;
  sendAtMost: number;
  inMemory?: boolean;
  sockets?: boolean;
  upcasts?: Readonly<Record<string, Upcast>>;
  scope?: Scope | undefined;
}): ClientState {
  return {
    life: "starting",
    models: modelsByName(given.schema),
    schemaHash: schemaHash(given.schema),
    upcasts: given.upcasts ?? {},
    clientId: "",
    storeId: undefined,
    owner: undefined,
    others: false,
    named: undefined,
    choosing: undefined,
    asking: { isUnder: false, wait: undefined, againAt: undefined },
    tokenOwner: undefined,
    lastOwner: undefined,
    withheld: false,
    withheldReason: undefined,
    unreadable: [],
    renewal: undefined,
    scope: given.scope ?? {},
    followed: given.scope ?? {},
    rows: noRows,
    erased: new Map(),
    queue: emptyQueue,
    overlay: {},
    touched: [],
    appended: [],
    inMemory: given.inMemory ?? false,
    storageTrouble: undefined,
    persisted: undefined,
    lostStore: undefined,
    lead: "no",
    generation: undefined,
    tabs: {
      listening: false,
      connection: undefined,
      areShared: false,
      skipsElection: false,
      ownSocket: false,
    },
    shared: {
      seqs: { upTo: 0, ahead: [] },
      changes: 0,
      outOfOrder: [],
      knownElsewhere: { lastSeq: 0, changes: 0 },
      settled: [],
      announced: [],
      dropping: 0,
      gapAt: undefined,
      reloads: 0,
      logged: [],
    },
    clock: undefined,
    paused: given.paused,
    network: true,
    awayUntil: undefined,
    auth: { phase: "trusted" },
    sockets: given.sockets ?? true,
    self: undefined,
    stream: { phase: "closed", failures: 0, wait: undefined },
    reading: {
      under: "nothing",
      wait: undefined,
      resync: "no",
      verified: false,
      missing: undefined,
      pollAt: undefined,
      partial: undefined,
      share: 1,
    },
    sending: { request: 0, names: undefined, size: given.sendAtMost, wait: undefined },
    trouble: undefined,
  };
}

/** The models by lower-case name, without prototypes. */
export const modelsByName = ({ models }: Pick<ModelSchema, "models">): Readonly<Record<string, Model>> =>
  byName(
    Object.entries(models).map(([name, model]) => [
      tableOf(name),
      { ...model, fields: byName(Object.entries(model.fields)) },
    ]),
  );

const byName = <V>(entries: Iterable<readonly [string, V]>): Readonly<Record<string, V>> =>
  Object.assign(Object.create(null), Object.fromEntries(entries));
