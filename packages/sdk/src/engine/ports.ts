import type { TokenFacts } from "../core/events.ts";
import type { PartialSnapshot, RowChange, Rows, Scope } from "../core/log/rows.ts";
import type { Mutation, QueueChange, Slot } from "../core/queue/mutation.ts";
import type { Reply } from "../core/queue/outcome.ts";
import type { QueueSnapshot, StorageTrouble } from "../core/state.ts";
import type { TabMessage } from "../core/tabs/tab-message.ts";
import type { ClientEndpointName } from "../protocol/client-paths.ts";
import type { LogEntry } from "../protocol/log/log.ts";
import type { SnapshotLine } from "../protocol/log/snapshot.ts";
import type { FrameDown } from "../protocol/stream/frames-down.ts";
import type { FrameUp } from "../protocol/stream/frames-up.ts";

/* The world as the engine sees it. Storage, transport and browser implement these; tests hand in their own. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only go forward, whatever happens to the wall's clock. They may stand still while the machine sleeps. */
  monotonic(): number;
  /** Calls back once; the function that is given back calls it off. */
  wait(ms: number, then: () => void): () => void;
}

/** Chance and names. */
export interface Random {
  /** From 0 up to, not including, 1. */
  roll(): number;
  id(): string;
}

/** Where a client survives a reload: its writes, its rows, its name. Fails with `StorageFailure` and nothing else. */
export interface Storage {
  /** Reads everything, and makes the client's name if there is none yet. */
  open(freshClientId: string): Promise<Stored>;
  /**
   * Changes the queue; resolves when that is durably on disk. Each change happens as a whole, or not at all where a
   * place does not hold what it is expected to hold. New writes get the next places, which are never given twice.
   */
  enqueue(changes: readonly QueueChange[]): Promise<Enqueued>;
  /** Makes the caller the one that sends: counts the generation up and looks, together. */
  takeLead(seen?: Seen): Promise<QueueSnapshot>;
  /** What is there, read in one moment. The rows too, where they have read further than `seen`, or another log. */
  readQueue(seen?: Seen): Promise<QueueSnapshot>;
  /** Keeps what became of writes; a place that is empty by now, or another write's, stays as it is. */
  keep(mutations: readonly Mutation[], generation: number): Promise<Kept | "fenced">;
  /** Takes settled writes off, each from its own place only. */
  forget(places: readonly Slot[], generation: number): Promise<Kept | "fenced">;
  /**
   * Keeps a stretch of the log, then takes off what it settled. "gap": the store has not read up to `from`, or has read
   * another log, so nothing was kept.
   */
  keepRows(stretch: StoredLogRange, generation: number): Promise<Kept | "fenced" | "gap">;
  /** Keeps a piece of a snapshot, in one transaction. "gap": what is kept is no part of the same snapshot, nothing was written. */
  keepPage(page: StoredPage, generation: number): Promise<"kept" | "fenced" | "gap">;
  /** Whose the store is: the given owner's, if it was nobody's before, or that of `instead`. */
  own(owner: string, instead?: string): Promise<string>;
  /** Calls back when the store turns out to be lost although nobody asked anything of it. */
  watch?(lost: (failure: StorageFailure) => void): void;
  close(): Promise<void>;
  /** Closes it and takes everything off the disk. */
  destroy(): Promise<void>;
}

/* "deposed": the store has counted another generation up since, so somebody else sends by now, and nothing was written. Asked in the transaction that writes. */

/** How far the rows of whoever asks have read. Empty: they want whatever is there. */
export type Seen = Pick<Rows, "logId" | "position"> | undefined;

/** Changes of the queue other than new writes are counted, so that tabs know what they have not heard of. */
export interface Kept {
  /** The number of this change; undefined: the queue is as it was. */
  readonly change: number | undefined;
}

export interface Enqueued extends Kept {
  /** For each change the places of what it put, in its order; "refused": a place held something else. */
  readonly places: readonly (readonly number[] | "refused")[];
}

export interface Stored extends QueueSnapshot {
  readonly clientId: string;
  /** Whose rows and writes these are (`core/connection/owner.ts`); undefined before the server has said so. */
  readonly owner?: string | undefined;
  readonly rows: Rows;
  /** A snapshot of which only the first pages are kept. */
  readonly partial?: PartialSnapshot | undefined;
}

export interface StoredLogRange {
  readonly logId: string;
  readonly from: number;
  readonly to: number;
  readonly changes: readonly RowChange[];
  readonly settled: readonly Slot[];
}

/** A page of a snapshot, or a piece of one. */
export interface StoredPage {
  readonly logId: string;
  readonly rowsVersion?: number | undefined;
  readonly viewHash?: string | undefined;
  readonly stamp: number;
  /** All rows that are there go first. */
  readonly first: boolean;
  readonly changes: readonly RowChange[];
  readonly scope?: string | undefined;
  /** Where the next page begins; null: there is none, and the rows are whole. Until then there is no position. "": nobody can go on from here. */
  readonly cursor: string | null;
}

/** The store cannot be used (any more). The reason is for people. */
export class StorageFailure extends Error {
  override readonly name = "StorageFailure";
  readonly code: StorageTrouble["code"];

  constructor(message: string, { code = "failed", ...options }: ErrorOptions & { code?: StorageTrouble["code"] } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Notes about a store that are kept elsewhere than the store. */
export interface EvictionMarker {
  read(): { readonly clientId: string; readonly pending: number; readonly notedAt: number } | undefined;
  note(note: { clientId: string; pending: number; notedAt: number }): void;
  /** Takes the note away. */
  forget(): void;
}

/** Requests to the server. Each gives its outcome as a value; none throws. `signal` gives all of them up. */
export interface Server {
  /** Sends a bulk, byte for byte as given. */
  send(body: string, signal: AbortSignal): Promise<Reply>;
  readLog(after: number, signal: AbortSignal, scope?: Scope, limit?: number): Promise<LogPage | Reply>;
  /** A page of a snapshot: the first one, or the one that begins at the cursor. */
  readSnapshot(cursor: string | null, signal: AbortSignal, scope?: Scope, limit?: number): Promise<Snapshot | Reply>;
  /** Any other request, with its answer as it came. */
  request(name: ClientEndpointName, asked: Asked, signal: AbortSignal): Promise<Reply>;
}

export interface Asked {
  /** What stands for `:model` or `:id` in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Default: as long as any request. */
  readonly timeoutMs?: number;
  /** It goes out although the page is going. */
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
  /** Where the next page begins; null: this was the last. */
  readonly cursor: string | null;
}

/** The socket that the log comes down on. One at a time; after `close` nothing of the old one is heard. */
export interface Stream {
  open(hear: StreamListener): void;
  /** Says a frame, if there is an open socket to say it on. */
  say(frame: FrameUp): void;
  hello(greeting: {
    token: string;
    clientId: string;
    logId: string;
    since: number;
    scope?: Scope;
    view?: string | undefined;
  }): void;
  close(): void;
}

export interface StreamListener {
  opened(): void;
  frame(frame: FrameDown): void;
  closed(code: number, reason: string): void;
}

/** The other tabs of this browser profile that share the store. */
export interface Tabs {
  /** `lead` is called each time this tab becomes the one that sends, `fenced` when another one took that over. */
  start(listener: { lead(): void; fenced(): void; heard(message: TabMessage): void }): void;
  /** In line for the lead, from its end on, also when it has the lead; or out of it. */
  campaign(wanted: boolean): void;
  post(message: TabMessage): void;
  close(): void;
}

/** What the platform notices by itself. */
export interface Signals {
  start(listener: {
    network(up: boolean): void;
    woke(): void;
    /** The page goes, for ever or into the browser's memory: the last moment in which anything can be sent. */
    hidden(): void;
  }): void;
  close(): void;
}

/** The app could not ask for a token, because nobody answered it: whether there is one is not known. */
export class TokenUnreachable extends Error {
  override readonly name = "TokenUnreachable";
}

/** The app's token, asked for when there is none or the one there was refused. */
export interface TokenSource {
  current(): Promise<string>;
  /** Asks the app again, while requests go on with the present one; undefined: it gave the same. */
  next(): Promise<string | undefined>;
  /** From now on requests use this one. */
  use(token: string): void;
}
