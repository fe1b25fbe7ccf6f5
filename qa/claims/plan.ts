import type { ParticipantKind } from "@holdfast/sdk/protocol";

/** The plan of a process of claimants: its participants, servers and records. */
export interface Plan {
  /** Of its files and of everything that it names. */
  readonly name: string;
  readonly folder: string;
  readonly seed: number;
  readonly urls: readonly string[];
  readonly claimants: readonly Claimant[];
  readonly records: readonly string[];
  /** The token that reorders queues; undefined: this process reorders none. */
  readonly orderer?: { readonly actor: string; readonly token: string; readonly record: string };
}

export interface Claimant {
  readonly actor: string;
  readonly kind: ParticipantKind;
  readonly token: string;
  readonly ttlMs: number;
  /** Takes claims over from agents now and then. */
  readonly preempts: boolean;
  /** Hears of its turn on the stream. */
  readonly stream: boolean;
}

export const MODEL = "slide";
export const DECK = "hot";
export const FIELDS = ["title", "notes"] as const;
