import type { Row } from "../protocol/commits/apply.ts";
import type { Model, ModelSchema } from "../protocol/schema/model-schema.ts";
import type { Wait } from "./connection/retry.ts";
import { noRows, type PartialSnapshot, type Rows, type Scope } from "./log/rows.ts";
import { type Tables, tableOf } from "./log/tables.ts";
import type { Mutation, Removed } from "./queue/mutation.ts";
import { emptyQueue, type Queue } from "./queue/queue.ts";
import { type SeqSet, seqSetUpTo } from "./queue/seq-set.ts";
import type { Upcast } from "./schema/old-operation.ts";
import { schemaHash } from "./schema/schema-hash.ts";
import type { Extent, LeaderConnection, QueueChanged } from "./tabs/tab-message.ts";

/** The whole client in one value. Only `step` makes a new one. */
export interface ClientState {
  readonly life: "starting" | "running";
  /** The app's models by lower-case name. */
  readonly models: Readonly<Record<string, Model>>;
  readonly schemaHash: string;
  /** By the hash of an older schema: what its operations mean in this one. */
  readonly upcasts: Readonly<Record<string, Upcast>>;
  readonly clientId: string;
  /** Whose the store is, as far as the server has said (`owner.ts`). */
  readonly owner: string | undefined;
  /** Whose the present token is, as far as the server has said; "": the server is an older one, which does not say. */
  readonly tokenOwner: string | undefined;
  /** The last token that the server named was another owner's: nothing of the store is shown until one of its owner's comes. */
  readonly withheld: boolean;
  /** Models of the app that the server does not show to this token, as the app spells them. */
  readonly unreadable: readonly string[];
  /** When to ask the app for the next token, while the present one is still good; after that, when to try again if the server has not taken one by then. */
  readonly renewal: Renewal | undefined;
  /** Which records are wanted; `rows` says of which it holds them. */
  readonly scope: Scope;
  readonly rows: Rows;
  readonly queue: Queue;
  /** Records with unsettled writes, as the user should see them; null: not there. All others are shown as the log has them. */
  readonly overlay: Tables<Row | null>;
  /** Keys of the records whose view the last event may have changed. */
  readonly touched: readonly string[] | "everything";
  /** During a step: writes that it put behind all others, for which nothing but these changes what is shown. */
  readonly appended: readonly Mutation[];

  /** Nothing is put on disk, as the app wants it. */
  readonly inMemory: boolean;
  /** Why nothing can be put on disk, if so. */
  readonly storageTrouble: StorageTrouble | undefined;
  /** Whether the browser has promised to keep the store; undefined: it was not asked yet, or there is nobody to ask. */
  readonly persisted: boolean | undefined;
  /** The store that was here is gone, and with it what was queued in it. */
  readonly lostStore: LostStore | undefined;
  /** Whether this tab sends for all tabs; "reading": it just became the one and reads their queue first. */
  readonly lead: "no" | "reading" | "yes";
  /** Under which number it leads: what it puts on disk counts only while no other tab has taken a higher one. */
  readonly generation: number | undefined;
  readonly tabs: OtherTabs;
  readonly shared: SharedQueue;
  readonly paused: boolean;
  readonly network: boolean;
  /** The page went, for ever or into the browser's memory: it has no socket until it is shown again, or this has passed. */
  readonly awayUntil: number | undefined;
  readonly auth: Auth;
  /** Whether a socket is opened at all, or the log only asked for. */
  readonly sockets: boolean;
  readonly stream: StreamLink;
  /** Who the last welcome said this is: `<kind>:<id>`, and the name of that line. */
  readonly self: { readonly participant: string; readonly session: string } | undefined;
  readonly reading: Reading;
  readonly sending: Sending;
  /** The last failure of any traffic, for people. */
  readonly trouble: string | undefined;
}

export type Auth =
  /** The token works, or none has been refused yet. */
  | { readonly phase: "trusted" }
  /** It was refused, or could not be had; the app is asked for another. */
  | { readonly phase: "asking"; readonly attempt: number }
  /** Another one came; the next answer tells. */
  | { readonly phase: "trying"; readonly attempt: number }
  /** That did not help. Everything waits; the app is asked again now and then. */
  | {
      readonly phase: "refused";
      readonly wait: Wait;
      readonly reason: string;
      /** The app could not be asked: it is a matter of the network, and nobody has to sign in. */
      readonly unreachable: boolean;
    };

export interface Renewal {
  readonly at: number;
  /** When the present token ends. */
  readonly endsAt: number;
}

export interface StorageTrouble {
  /**
   * `quota`: no room. `blocked`: another tab keeps it from opening. `unavailable`: there is none, as in some private windows. `newer`: a newer
   * version of the app has written it. `damaged`: it cannot be read. `lost`: it was closed again and again. `cleared`: emptied
   * while it was in use. `failed`: anything else.
   */
  readonly code:
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

/** What was noted of a store elsewhere. */
export interface LostStore {
  /** Writes that were in its queue when that was noted, and when that was (ms since 1970). */
  readonly pending: number;
  readonly notedAt: number;
}

/** What this tab knows of the others. */
export interface OtherTabs {
  /** Somebody listens: the one that leads tells what it hears. */
  readonly listening: boolean;
  /** How the one that leads stands with the server, as far as it said. */
  readonly line: LeaderConnection | undefined;
  /** Writes of this profile that the log had before this tab was told of them: the rows contain them. */
  readonly logged: readonly string[];
  /** This tab does not stand for the lead: its token is another owner's, and it could do nothing for the others. */
  readonly abstains: boolean;
  /** Claims or presence are used here: they need a socket of this tab. */
  readonly ownLine: boolean;
}

/** What this tab knows of the queue on disk, which all tabs change. */
export interface SharedQueue {
  /** Places that were given. */
  readonly places: SeqSet;
  /** How many of the other changes have been taken. */
  readonly changes: number;
  /** Changes that came before their turn. */
  readonly early: readonly EarlyChange[];
  /** What another tab said that it knows of. */
  readonly told: Extent;
  /** Settled here, and not known to have left the disk: found there, they are not news. */
  readonly settled: readonly Removed[];
  /** Writes that another tab is putting on disk, and when to look for each: a few times, ever later. */
  readonly coming: readonly { readonly clientTxId: string; readonly at: number; readonly looks: number }[];
  /** Decisions on their way to the disk that take writes off it: until they are there, or came too late, nothing is sent. */
  readonly dropping: number;
  /** When the disk is looked at, if what is missing has not come by then. */
  readonly gapAt: number | undefined;
  /** How often it is being looked at just now. */
  readonly looks: number;
}

/** `isOwn`: it was made here, and what it put is here already. */
export type EarlyChange = QueueChanged & { readonly isOwn?: boolean };

/** What lies on disk, as it was in one moment. */
export interface QueueSnapshot {
  readonly mutations: readonly Mutation[];
  /** How often the queue has been changed, new writes apart. */
  readonly changes: number;
  /** The last place that was given. */
  readonly lastSeq: number;
  /** The number under which the tab leads that took the lead last; 0: none ever has. */
  readonly generation: number;
  /** Undefined: they have read no further than those here. */
  readonly rows: Rows | undefined;
}

export interface StreamLink {
  readonly phase: "closed" | "opening" | "live";
  /** Until when it counts as live although it was lost: a reconnect that is over by then is not worth a word. */
  readonly missedAt?: number | undefined;
  /** Failed attempts since it was last live. */
  readonly failures: number;
  readonly wait: Wait | undefined;
}

export interface Reading {
  /** The one read that is under way. */
  readonly under: "nothing" | "snapshot" | "log";
  readonly wait: Wait | undefined;
  /** The rows must be read anew. "suspect": they may be of another log, so nothing is sent until they were. */
  readonly resync: "no" | "anew" | "suspect";
  /** Whether the log at the other end of the present line is known to be the one that the rows are of. */
  readonly verified: boolean;
  /** A position that is known to exist and was not delivered. */
  readonly missing: number | undefined;
  /** What was missing when the log was asked for last. */
  readonly askedFor?: number | undefined;
  /** While the stream cannot be had: when to ask for the log next. */
  readonly pollAt: number | undefined;
  /** A snapshot of which the first pages were read. */
  readonly partial: PartialRead | undefined;
  /** How large a page is asked for, as a share of the largest: a slow line gets small ones. */
  readonly share: number;
}

export interface PartialRead extends PartialSnapshot {
  /** Whether those pages are on disk. */
  readonly isKept: boolean;
}

export interface Sending {
  /** Counts requests, so that an answer to an abandoned one is not taken for an answer to the present one. */
  readonly request: number;
  /** Names in the request that is under way. */
  readonly names: readonly string[] | undefined;
  /** How many commits a request may hold now. */
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
    models: Object.fromEntries(Object.entries(given.schema.models).map(([name, model]) => [tableOf(name), model])),
    schemaHash: schemaHash(given.schema),
    upcasts: given.upcasts ?? {},
    clientId: "",
    owner: undefined,
    tokenOwner: undefined,
    withheld: false,
    unreadable: [],
    renewal: undefined,
    scope: given.scope ?? {},
    rows: noRows,
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
    tabs: { listening: false, line: undefined, logged: [], abstains: false, ownLine: false },
    shared: {
      places: seqSetUpTo(0),
      changes: 0,
      early: [],
      told: { lastSeq: 0, changes: 0 },
      settled: [],
      coming: [],
      dropping: 0,
      gapAt: undefined,
      looks: 0,
    },
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
