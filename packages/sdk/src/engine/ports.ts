import type { TokenFacts } from "../core/events.ts";
import type { PartialSnapshot, RowChange, Rows, Scope } from "../core/log/rows.ts";
import type { Mutation, QueueChange, Slot } from "../core/queue/mutation.ts";
import type { Reply } from "../core/queue/outcome.ts";
import type { QueueSnapshot, StorageTrouble } from "../core/state.ts";
import type { PostedMessage } from "../core/tabs/tab-message.ts";
import type { ClientEndpointName } from "../protocol/client-paths.ts";
import type { LogEntry } from "../protocol/log/log.ts";
import type { SnapshotLine } from "../protocol/log/snapshot.ts";
import type { FrameDown } from "../protocol/stream/frames-down.ts";
import type { FrameUp } from "../protocol/stream/frames-up.ts";
import type { Part } from "../protocol/stream/part-frames.ts";

/* The environment of the engine. Storage, transport and browser implement these interfaces; tests provide their own. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds. The clock may stand still while the machine sleeps. */
  monotonic(): number;
  /** Calls back once. Returns a function that cancels the timer. */
  wait(ms: number, then: () => void): () => void;
}

/** Random numbers and ids. */
export interface Random {
  /** At least 0 and less than 1. */
  roll(): number;
  id(): string;
}

/** The durable store of a client: its writes, its rows and its id. Fails only with `StorageFailure`. */
export interface Storage {
  /** Reads everything, and stores the fresh client id if there is none yet. */
  open(freshClientId: string): Promise<Stored>;
  /**
   * Changes the queue, and resolves when the changes are durable. Each change is atomic: it is refused if a slot does
   * not contain what the change expects. New writes get the next `seq` numbers, which are never reused.
   */
  enqueue(changes: readonly QueueChange[]): Promise<Enqueued>;
  /** Makes the caller the leader: raises the generation and reads a queue snapshot, in one transaction. */
  takeLead(seen?: Seen): Promise<StoredQueue>;
  /**
   * A consistent queue snapshot. It includes the rows if they have read further than `seen`, or belong to another log.
   */
  readQueue(seen?: Seen): Promise<StoredQueue>;
  /** Stores the stages of writes. A slot that is empty by now, or contains another write, is left unchanged. */
  keep(mutations: readonly Mutation[], generation: number): Promise<Kept | "fenced">;
  /** Deletes settled writes, each only from its own slot. */
  forget(places: readonly Slot[], generation: number): Promise<Kept | "fenced">;
  /**
   * Stores a range of the log, then deletes the writes that it settled. "gap": the store has not read up to `from`, or
   * has read another log, so nothing was written.
   */
  keepRows(range: StoredLogRange, generation: number): Promise<Kept | "fenced" | "gap">;
  /**
   * Stores one chunk of a snapshot in one transaction. "gap": the stored chunks belong to another snapshot, so nothing
   * was written.
   */
  keepPage(page: StoredPage, generation: number): Promise<"kept" | "fenced" | "gap">;
  /**
   * Returns the store's owner, after setting it if the store had none or if its owner was `instead`. If that is another
   * one, the store remembers that another owner asked for it (`others`).
   */
  own(owner: string, instead?: string): Promise<string>;
  /** How large the server lets records be. Undefined: it does not say it. */
  keepRecordBytes(recordBytes: number | undefined): Promise<void>;
  /** Calls back if the store is lost while no operation is running. */
  watch?(lost: (failure: StorageFailure) => void): void;
  close(): Promise<void>;
  /** Closes the store and deletes all its data. */
  destroy(): Promise<void>;
}

/*
 * "fenced": the store has a higher generation, so another tab leads now, and nothing was written. The check runs in the
 * writing transaction.
 */

/** The caller's log and position. Empty: the caller wants any rows. */
export type Seen = Pick<Rows, "logId" | "position"> | undefined;

/**
 * The result of a queue change. Changes other than new writes are numbered, so that tabs notice which ones they missed.
 */
export interface Kept {
  /** The number of this change; undefined: the queue did not change. */
  readonly change: number | undefined;
}

export interface Enqueued extends Kept {
  /** For each change the `seq` numbers of its writes, in order; "refused": a slot contained something else. */
  readonly places: readonly (readonly number[] | "refused")[];
}

/** What is stored names its scope by a text (`scopeKey`), which the store compares and does not read. */
type InStore<T> = Omit<T, "scope"> & { readonly scope?: string | undefined };

export type RowsInStore = InStore<Rows>;
export type PartialInStore = InStore<PartialSnapshot>;

export interface StoredQueue extends Omit<QueueSnapshot, "rows"> {
  readonly rows?: RowsInStore | undefined;
}

export interface Stored extends StoredQueue {
  /** Generated when the store was created. */
  readonly clientId: string;
  /** The owner of these rows and writes (`core/connection/owner.ts`); undefined until the server has named it. */
  readonly owner?: string | undefined;
  /** Another owner has asked for this store. */
  readonly others?: boolean | undefined;
  /** As kept last. */
  readonly recordBytes?: number | undefined;
  readonly rows: RowsInStore;
  /** A snapshot of which only the first pages are stored. */
  readonly partial?: PartialInStore | undefined;
}

export interface StoredLogRange {
  readonly logId: string;
  /** The form, the view and the scope of the tab's rows. Rows of another view or scope on disk are not continued. */
  readonly rowsVersion?: number | undefined;
  readonly viewHash?: string | undefined;
  readonly scope?: string | undefined;
  /** The scope of the rows on disk, if `scope` is another one: the changes bring the rows of more parts. */
  readonly was?: string | undefined;
  /** When the rows were known last to be all that the server has (ms since 1970). */
  readonly at?: number | undefined;
  readonly from: number;
  readonly to: number;
  readonly changes: readonly RowChange[];
  readonly settled: readonly Slot[];
}

/** A page of a snapshot, or a chunk of one. */
export interface StoredPage {
  readonly logId: string;
  readonly rowsVersion?: number | undefined;
  readonly viewHash?: string | undefined;
  readonly stamp: number;
  /** When the rows were known last to be all that the server has (ms since 1970). */
  readonly at?: number | undefined;
  /** Deletes all present rows first. */
  readonly first: boolean;
  readonly changes: readonly RowChange[];
  readonly scope?: string | undefined;
  /**
   * Where the next page begins. null: this is the last page, and the rows get a position. "": an incomplete snapshot
   * that cannot be continued.
   */
  readonly cursor: string | null;
}

/** The store cannot be used, or no longer. The message is for people. */
export class StorageFailure extends Error {
  override readonly name = "StorageFailure";
  readonly code: StorageTrouble["code"];

  constructor(message: string, { code = "failed", ...options }: ErrorOptions & { code?: StorageTrouble["code"] } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** A note about a store, kept outside that store. */
export interface EvictionMarker {
  read(): { readonly clientId: string; readonly pending: number; readonly notedAt: number } | undefined;
  note(note: { clientId: string; pending: number; notedAt: number }): void;
  /** Deletes the note. */
  forget(): void;
}

/** Requests to the server. Each resolves with its outcome and never throws. `signal` aborts it. */
export interface Server {
  /** Sends a bulk, byte for byte as given. */
  send(body: string, signal: AbortSignal): Promise<Reply>;
  readLog(after: number, signal: AbortSignal, scope?: Scope, limit?: number): Promise<LogPage | Reply>;
  /** Reads a page of a snapshot: the first one, or the one at the cursor. */
  readSnapshot(cursor: string | null, signal: AbortSignal, scope?: Scope, limit?: number): Promise<Snapshot | Reply>;
  /** Sends any other request and returns the raw response. */
  request(name: ClientEndpointName, asked: Asked, signal: AbortSignal): Promise<Reply>;
}

export interface Asked {
  /** The values of `:model` and `:id` in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Default: the general request timeout. */
  readonly timeoutMs?: number;
  /** The request outlives the page. */
  readonly keepalive?: boolean;
}

export interface LogPage extends TokenFacts {
  readonly kind: "log";
  readonly logId: string;
  readonly stamp: number;
  readonly from: number;
  readonly to: number;
  readonly entries: readonly LogEntry[];
}

export interface Snapshot extends TokenFacts {
  readonly kind: "snapshot";
  readonly logId: string;
  readonly stamp: number;
  readonly lines: readonly SnapshotLine[];
  /** Where the next page begins; null after the last page. */
  readonly cursor: string | null;
}

/** The WebSocket that delivers the log. At most one is open; after `close`, no event of the old one is delivered. */
export interface Stream {
  open(listener: StreamListener): void;
  /** Sends a frame if the socket is open. */
  send(frame: FrameUp): void;
  hello(greeting: {
    token: string;
    clientId: string;
    logId: string;
    since: number;
    scope?: Scope;
    /** In place of the scope's models and conditions. */
    parts?: readonly Part[] | undefined;
    /** Others are named after `welcome`. */
    more?: boolean;
    view?: string | undefined;
  }): void;
  close(): void;
}

export interface StreamListener {
  opened(): void;
  frame(frame: FrameDown): void;
  closed(code: number, reason: string): void;
}

/** The other tabs of this browser profile, which share the store. */
export interface Tabs {
  /** `lead` is called each time this tab becomes the leader, `fenced` when another tab takes over. */
  start(listener: { lead(): void; fenced(): void; received(message: PostedMessage): void }): void;
  /**
   * With `true`, joins the election behind the other candidates, even if this tab leads now. With `false`, leaves it.
   */
  campaign(wanted: boolean): void;
  post(message: PostedMessage): void;
  close(): void;
}

/** Events of the platform. */
export interface Signals {
  start(listener: {
    network(up: boolean): void;
    woke(): void;
    /** The page is being hidden or closed. This is the last moment to send anything. */
    hidden(): void;
  }): void;
  close(): void;
}

/** The app's token endpoint could not be reached, so it is unknown whether there is a token. */
export class TokenUnreachable extends Error {
  override readonly name = "TokenUnreachable";
}

/** The app's token source. It is called when there is no token or the present one was refused. */
export interface TokenSource {
  /** Waits for the app no longer: what asks now, or later, hears that the client is closed. */
  close(): void;
  current(): Promise<string>;
  /** Requests another token while the present one stays in use; undefined: the app gave the same. */
  next(): Promise<string | undefined>;
  /** Switches to this token. */
  use(token: string): void;
}
