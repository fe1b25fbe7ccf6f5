import type { LogEntry } from "../../protocol/log/log.ts";
import type { RowChange, Scope } from "../log/rows.ts";
import type { Mutation, Put, Removed } from "../queue/mutation.ts";
import type { Reply } from "../queue/outcome.ts";

/** The messages between the tabs of a browser profile. */
export type TabMessage =
  /** New writes on disk, each with its `seq`. `asOf`: they were found in a snapshot with this change number. */
  | { readonly type: "arrived"; readonly mutations: readonly Mutation[]; readonly asOf?: number }
  | QueueChanged
  | { readonly type: "answered"; readonly names: readonly string[]; readonly reply: Reply }
  /** A range of the log that the leader has received. */
  | {
      readonly type: "log";
      readonly logId: string;
      /** The view under which the leader received it, and the scope of its rows. */
      readonly viewHash?: string | undefined;
      readonly scope?: string | undefined;
      readonly from: number;
      readonly to: number;
      readonly entries: readonly LogEntry[];
    }
  /**
   * All rows on disk were replaced. `other`: by rows of another log, or of a log that was set back. `scope`: or only those
   * of new parts were added, so that they are now the rows of this scope.
   */
  | { readonly type: "rows"; readonly other: boolean; readonly scope?: string | undefined }
  /** The leader has read parts: what that changes in rows of `was`, which become those of `scope`. */
  | ({ readonly type: "parts" } & ToldParts)
  /** The state of the leader's connection. */
  | { readonly type: "connection"; readonly connection: LeaderConnection }
  /** A tab is new, or has learned of a new leader. It requests the state of the leader's connection. */
  | ({
      readonly type: "joined";
      /** Of a tab that was opened: what it says of its schema. */
      readonly schema?: string;
    } & QueueNumbers)
  /** The answer to a tab that was opened with another schema. */
  | { readonly type: "schema"; readonly schema: string }
  /** The tab leads with this generation of the store. */
  | { readonly type: "leading"; readonly generation: number }
  /** The tab is about to store these writes. A tab that does not receive `arrived` in time may reload the queue. */
  | { readonly type: "writing"; readonly clientTxIds: readonly string[] }
  | ScopeMessage
  /** The user signed out for good, so the store is being deleted. */
  | { readonly type: "signedOut" }
  /** The user returned to one of the tabs: pending retries need not wait any longer. */
  | { readonly type: "hurry" };

/** The records that all tabs read from now on. */
export interface ScopeMessage {
  readonly type: "scope";
  readonly scope: Scope;
  /** The app has called `follow` with this. */
  readonly followed?: Scope | undefined;
  /** The app has loaded a part. Absent from tabs of an older version, and from those that were just opened. */
  readonly isLoad?: boolean | undefined;
}

/** A message as it is posted. */
export type PostedMessage = TabMessage & {
  /**
   * The store that the tab has open. Numbers and positions of another store, which was cleared, mean nothing here.
   * Absent: the message applies to each store.
   */
  readonly storeId?: string | undefined;
};

/**
 * A change of the stored queue other than new writes. Changes are numbered: each tab applies them in order, or reloads.
 */
export interface QueueChanged {
  readonly type: "changed";
  readonly change: number;
  readonly put: readonly Put[];
  readonly removed: readonly Removed[];
}

/** New parts, as they are added to the rows at a position. */
export interface ToldParts {
  readonly logId: string;
  readonly viewHash: string | undefined;
  readonly rowsVersion: number | undefined;
  readonly position: number;
  readonly was: string;
  readonly scope: string;
  readonly changes: readonly RowChange[];
}

/** What followers know about the leader's connection. */
export interface LeaderConnection {
  /** With which the tab leads. Absent from tabs of an older version. */
  readonly generation?: number | undefined;
  readonly name: "online" | "connecting" | "offline" | "needs-auth";
  /** False: it polls. */
  readonly live: boolean;
  readonly reason: string | undefined;
  readonly retryAt: number | undefined;
  /** Its rows may lack something of the parts that they have. */
  readonly isBehind: boolean;
  /** They lack a part, or are read again. */
  readonly isReading: boolean;
  readonly logId: string | undefined;
  readonly position: number | undefined;
  /** Of its rows. */
  readonly viewHash: string | undefined;
  readonly rowsVersion: number | undefined;
  readonly scope: Scope;
  /** How much of the queue the leader knows. Tabs of another version of the app read this name. */
  readonly extent: QueueNumbers;
  /** Bytes of JSON that the server lets a record have. Absent from tabs of an older version. */
  readonly recordBytes?: number | undefined;
  /** The leader's token belongs to another owner than the store, so no tab shows the store's data. */
  readonly withheld: boolean;
}

/** How much of the stored queue a tab knows: the last `seq`, and the last change number. */
export interface QueueNumbers {
  readonly lastSeq: number;
  readonly changes: number;
}
