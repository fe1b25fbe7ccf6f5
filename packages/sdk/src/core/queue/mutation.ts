import type { Claim } from "../../protocol/claims/claim.ts";
import type { Action } from "../../protocol/commits/action.ts";
import type { Attribution } from "../../protocol/commits/attribution-of.ts";
import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { FieldChanges } from "../../protocol/commits/field-change.ts";
import type { OnStale, StaleNotification } from "../../protocol/commits/stale.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { recordKey } from "../log/tables.ts";
import type { Asks } from "./asks.ts";
import type { Failure } from "./failure.ts";

export interface MutationOperation {
  readonly action: Action;
  readonly model: string;
  readonly id: string;
  readonly data?: JsonObject | undefined;
  readonly changes?: FieldChanges | undefined;
  /** The rows' position when the user wrote. Undefined until the local store has been read. */
  readonly readAt?: number | undefined;
  readonly onStale: OnStale;
  /** The claim under which the write was made. */
  readonly claim?: string | undefined;
  /** The values that the user saw: the written fields, or the whole record for delete, archive and unarchive. */
  readonly base: JsonObject | null;
  /** Fields of `data` with values that the record had and that its author did not type: an undo, or a restored record. */
  readonly copied?: readonly string[] | undefined;
}

export interface Premise {
  readonly model?: string | undefined;
  readonly id?: string | undefined;
  readonly group?: string | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly readAt?: number | undefined;
  readonly onStale: OnStale;
}

/**
 * Life of a write, by phase. Conflicted and rejected writes wait for a person.
 *
 * mutated ─► saving ─persisted─► queued ─► sending ─receipt─► confirmed ─the log reaches it─► removed
 *                                  ▲          │ ├─ conflicted ─► a person decides ─► saving │ removed
 *                                  └──again───┘ └─ rejected ───► retry ─► saving │ discard ─► removed
 */
export type Stage =
  /** Shown, but not on disk yet, so it must not be sent yet. */
  | { readonly phase: "saving" }
  | { readonly phase: "queued" }
  /** Part of the request in flight. The outcome is unknown until a response names the write. */
  | { readonly phase: "sending" }
  /** Committed on the server. The overlay shows it until the rows reach its position. */
  | { readonly phase: "confirmed"; readonly receipt: CommitReceipt }
  /**
   * The server wrote nothing, because others changed the same fields or hold a claim. Waits for a person.
   */
  | {
      readonly phase: "conflicted";
      readonly notifications: readonly StaleNotification[];
      /**
       * The last `seq` in the queue when the conflict arrived. Later writes were made after the user could see theirs.
       */
      readonly conflictedAfter: number;
      readonly claim?: ClaimRefusal | undefined;
    }
  /** Rejected by the server. Waits for a person or the app. */
  | { readonly phase: "rejected"; readonly failure: Failure };

/** The claim conflict of a write: the claim that it named had ended, or another participant holds the record. */
export interface ClaimRefusal {
  readonly code: "claim_lost" | "claim_conflict";
  /** The holders at that time. Empty if the claim had ended and no other participant had claimed the record. */
  readonly holders: readonly Claim[];
}

/** One write of this client that is not settled yet. It is one commit on the wire. */
export interface Mutation {
  readonly clientTxId: string;
  /** Position in the queue that all tabs share, assigned by the storage. */
  readonly seq: number | undefined;
  readonly operations: readonly MutationOperation[];
  readonly reads: readonly Premise[];
  /** Why it was made. Undefined: its author said nothing. */
  readonly attribution?: Attribution | undefined;
  /** It proposes, or decides a proposal. */
  readonly asks?: Asks | undefined;
  /** The exact text of the commit. Every retry sends it under the same name. Empty until serialized. */
  readonly body: string;
  /** Length of `body` in UTF-8. */
  readonly bytes: number;
  /** The log of the positions in `body`. Undefined if the client had read no log yet. */
  readonly logId?: string | undefined;
  /** Hashes of the schema that the write was made with, and of the part of that schema which it uses. */
  readonly schema?: string | undefined;
  readonly shape?: string | undefined;
  /** The owner of the tab that made the write. null: the tab did not know it. */
  readonly owner: string | null;
  /** By the device's clock (ms since 1970). */
  readonly createdAt: number;
  /** What `createdAt` was before this tab, which did not lead, moved it along with the clock. Only in memory. */
  readonly unmovedAt?: number | undefined;
  /** By the server's clock, of a write that may have been sent. Undefined: the server has not said its time. */
  readonly madeAt?: number | undefined;
  readonly attempts: number;
  /** No device can have sent it under this name. Stored, and removed there before the first attempt. Absent: it may be in the log. */
  readonly unsent?: true | undefined;
  /** Keys of the records that it touches. */
  readonly keys: readonly string[];
  /** Keys whose log entry has arrived: the rows contain this write there already. */
  readonly echoed: readonly string[];
  /** How far the rows had read the log then. They are stored with the write once its receipt does not come. */
  readonly echoedAt?: number | undefined;
  /**
   * Last values of records that someone else deleted while this write was pending, to restore them, or whose part was
   * dropped, to show them.
   */
  readonly lost?: Readonly<Record<string, JsonObject>> | undefined;
  /** Since when those of them that were archived had been. */
  readonly archived?: Readonly<Record<string, string>> | undefined;
  /** How often in a row the client has merged its texts with those of others, without a person. */
  readonly merges?: number | undefined;
  readonly stage: Stage;
}

export const waitsForPerson = (m: Mutation): boolean => m.stage.phase === "conflicted" || m.stage.phase === "rejected";

/** Where a write is stored on disk. */
export interface Slot {
  readonly clientTxId: string;
  readonly seq: number;
}

/** What a slot on disk is expected to contain. */
export interface ExpectedSlot extends Slot {
  readonly phase: "queued" | "conflicted" | "rejected";
}

/** The stored form of a write, without the phases that only matter in memory. */
export const asKept = ({ unmovedAt, ...m }: Mutation): Mutation =>
  waitsForPerson(m) ? m : { ...m, stage: { phase: "queued" } };

export const lastingPhase = ({ phase }: Stage): ExpectedSlot["phase"] =>
  phase === "conflicted" || phase === "rejected" ? phase : "queued";

/** Undefined: the write has no slot yet. */
export const expectedSlot = ({ clientTxId, seq, stage }: Mutation): ExpectedSlot | undefined =>
  seq === undefined ? undefined : { clientTxId, seq, phase: lastingPhase(stage) };

/**
 * A write for the stored queue. A new write goes to the end; a replacement takes the slot of the write that it
 * replaces.
 */
export interface Put {
  readonly mutation: Mutation;
  readonly over?: ExpectedSlot | undefined;
}

/** One atomic change of the stored queue. It fails as a whole if a slot contains something else by then. */
export interface QueueChange {
  readonly put: readonly Put[];
  readonly drop: readonly ExpectedSlot[];
}

/** A write that left the stored queue. Without a receipt, it was discarded. */
export interface Removed extends Slot {
  readonly receipt?: CommitReceipt | undefined;
}

export const keysOf = (operations: readonly { model: string; id: string }[]): readonly string[] => [
  ...new Set(operations.map(recordKey)),
];
