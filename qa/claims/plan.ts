import type { ParticipantKind } from "@holdfast/sdk/protocol";

/** What a process of claimants is told: who they are, where the servers are, and what they fight over. */
export interface Plan {
  /** Of its files and of everything that it names. */
  readonly name: string;
  readonly folder: string;
  readonly seed: number;
  readonly urls: readonly string[];
  readonly claimants: readonly Claimant[];
  readonly records: readonly string[];
  /** Puts lines into another order; absent: nobody in this process does. */
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
