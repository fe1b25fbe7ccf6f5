import { moveProblems } from "./move-problems.ts";

/** Which of the two databases have the tenant's head, and whether the target has everything but the head. */
export interface MovePlaces {
  readonly source: { readonly head: boolean };
  readonly target: { readonly head: boolean; readonly arrival: boolean };
}

/**
 * What a move does next, from what is in the two databases alone, so that it goes on after a crash at any point:
 *
 *   copy ──► target: everything, and an arrival ──► source: no head ──► target: the head ──► directory, clean up
 *                 the source serves                   neither serves       the target serves
 *
 * "copy": an arrival from before may be old, so it does not count while the source serves.
 */
export type MoveStep = "copy" | "open" | "finish";

export function nextStep({ source, target }: MovePlaces): MoveStep {
  if (source.head && target.head) throw new Error(moveProblems.several);
  if (source.head) return "copy";
  if (target.head) return "finish";
  if (target.arrival) return "open";
  throw new Error(moveProblems.none);
}

/** What a copy has to compare with the source. */
export interface Extent {
  readonly syncId: number;
  readonly schemaVersion: number;
  readonly erasedTo: number;
  readonly trimmedTo: number;
  readonly rewriting: boolean;
}

/**
 * How a copy catches up. "again": values changed that no position tells (an erasure, a pushed schema, a trimmed log), so
 * it starts over.
 */
export type CatchUp = "again" | "another pass" | "last pass";

/** Entries that are copied while writes wait: a few milliseconds. */
const FEW = 1_000;

export function howToCatchUp(copied: Extent, now: Extent): CatchUp {
  const isSame =
    copied.schemaVersion === now.schemaVersion &&
    copied.erasedTo === now.erasedTo &&
    copied.trimmedTo === now.trimmedTo &&
    !copied.rewriting &&
    !now.rewriting;
  if (!isSame) return "again";
  return now.syncId - copied.syncId > FEW ? "another pass" : "last pass";
}
