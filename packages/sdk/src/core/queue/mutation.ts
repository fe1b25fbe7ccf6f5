import type { Claim } from "../../protocol/claims/claim.ts";
import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { Action } from "../../protocol/commits/operation.ts";
import type { OnStale, StaleNotification } from "../../protocol/commits/stale.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Rows } from "../log/rows.ts";
import { recordKey } from "../log/tables.ts";
import type { Failure } from "./failure.ts";

export interface MutationOperation {
  readonly action: Action;
  readonly model: string;
  readonly id: string;
  readonly data?: JsonObject | undefined;
  /** How far the rows had read when it was written. Undefined until the local store has been read. */
  readonly readAt?: number | undefined;
  readonly onStale: OnStale;
  /** The claim that it was made under. */
  readonly claim?: string | undefined;
  /** What the user saw in its place: the written fields, or the whole record for delete, archive, unarchive. */
  readonly base: JsonObject | null;
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
 *   mutated ─► saving ─persisted─► queued ─► sending ─receipt─► confirmed ─the log reaches it─► gone
 *                                    ▲          │ ├─ held (notify) ─► a person answers ─► saving │ gone
 *                                    └──again───┘ └─ refused ───────► parked ─ retry ─► saving │ discard ─► gone
 */
export type Stage =
  /** Shown, not yet on disk, so not yet to be sent. */
  | { readonly phase: "saving" }
  | { readonly phase: "queued" }
  /** In the one request that is under way; its outcome is unknown until an answer names it. */
  | { readonly phase: "sending" }
  /** Done on the server; shown until the rows reach its position. */
  | { readonly phase: "confirmed"; readonly receipt: CommitReceipt }
  /** Nothing was written: others changed the same fields, or a claim stood against it. Waits for a person. */
  | {
      readonly phase: "held";
      readonly notifications: readonly StaleNotification[];
      /** The last place in the queue when it was held: what lies behind was written in view of theirs. */
      readonly heldAfter: number;
      readonly claim?: ClaimRefusal | undefined;
    }
  /** Refused. Waits for a person or the app. */
  | { readonly phase: "parked"; readonly failure: Failure };

/** Why a write is held that a claim stood against: the one it named had ended, or somebody else holds the record. */
export interface ClaimRefusal {
  readonly code: "claim_lost" | "claim_conflict";
  /** Who held the record then. Nobody, perhaps: the claim had ended, and no other has come. */
  readonly holders: readonly Claim[];
}

/** One write of this client that the log has not settled: one commit on the wire. */
export interface Mutation {
  readonly clientTxId: string;
  /** Its place in the queue of all tabs, given by the storage. */
  readonly seq: number | undefined;
  readonly operations: readonly MutationOperation[];
  readonly reads: readonly Premise[];
  /** The exact text that is sent, again and again, under one name. Empty until sealed. */
  readonly body: string;
  /** Length of `body` in UTF-8. */
  readonly bytes: number;
  /** The log that the positions in `body` count in. Undefined: it had read none. */
  readonly logId?: string | undefined;
  /** Hash of the schema that it was written with, and of the part of that which it uses. */
  readonly schema?: string | undefined;
  readonly shape?: string | undefined;
  readonly createdAt: number;
  readonly attempts: number;
  /** The records that it touches. */
  readonly keys: readonly string[];
  /** Those of them whose log entry has arrived: their rows contain it already. */
  readonly landed: readonly string[];
  /** Records that somebody deleted while this was on its way, as they were: what it takes to bring them back. */
  readonly lost?: Readonly<Record<string, JsonObject>> | undefined;
  readonly stage: Stage;
}

export const waitsForPerson = (m: Mutation): boolean => m.stage.phase === "held" || m.stage.phase === "parked";

/** Where a write lies on disk. */
export interface Slot {
  readonly clientTxId: string;
  readonly seq: number;
}

/** What a place on disk is expected to hold. */
export interface ExpectedSlot extends Slot {
  readonly phase: "queued" | "held" | "parked";
}

/** A write as it lies on disk: what is true of this moment only is left out of its stage. */
export const asKept = (m: Mutation): Mutation => (waitsForPerson(m) ? m : { ...m, stage: { phase: "queued" } });

export const lastingPhase = ({ phase }: Stage): ExpectedSlot["phase"] =>
  phase === "held" || phase === "parked" ? phase : "queued";

/** Undefined: it has no place yet. */
export const expectedSlot = ({ clientTxId, seq, stage }: Mutation): ExpectedSlot | undefined =>
  seq === undefined ? undefined : { clientTxId, seq, phase: lastingPhase(stage) };

/** A write for the queue on disk: a new one comes behind all others, one that stands in for another takes its place. */
export interface Put {
  readonly mutation: Mutation;
  readonly over?: ExpectedSlot | undefined;
}

/** What belongs together: it happens as a whole, or not at all where a place holds something else by then. */
export interface QueueChange {
  readonly put: readonly Put[];
  readonly drop: readonly ExpectedSlot[];
}

/** A write that left the queue on disk. Without a receipt a person gave it up. */
export interface Removed extends Slot {
  readonly receipt?: CommitReceipt | undefined;
}

export const keysOf = (operations: readonly { model: string; id: string }[]): readonly string[] => [
  ...new Set(operations.map(recordKey)),
];

/** The write's text is made once and kept: sent again, it is the same bytes under the same key. */
export function serialized(m: Mutation, clientId: string, { position = 0, logId }: Rows): Mutation {
  const operations = m.operations.map((o) => (o.readAt === undefined ? { ...o, readAt: position } : o));
  const reads = m.reads.map((r) => (r.readAt === undefined ? { ...r, readAt: position } : r));
  const body = JSON.stringify({
    operations: operations.map(({ base: _, ...sent }) => sent),
    ...(reads.length > 0 && { reads }),
    clientTxId: m.clientTxId,
    clientId,
  });
  return { ...m, operations, reads, body, bytes: utf8Length(body), logId };
}

/** Counted by hand: this layer knows no platform, and one multi-byte title must not overflow a request. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // A surrogate pair is two units and four bytes: one more for each unit.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
