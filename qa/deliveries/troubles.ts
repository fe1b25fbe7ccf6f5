import type { Span, Trouble } from "./evidence.ts";

/** So long after an answer has left, or after an owner was told, its effect may still be on the way. */
export const SETTLE_MS = 5_000;
export const RACE_MS = 1_000;

/** Whether anything was done to a process in that time. */
export const isTroubled = (troubles: readonly Trouble[], from: number, to: number): boolean =>
  troubles.some((trouble) => trouble.from <= to && from <= trouble.to);

/** From when on nobody acts on what was so before the owner's action. */
export function settledAt({ answered }: Pick<Span, "answered">, troubles: readonly Trouble[]): number {
  let settled = answered + RACE_MS;
  for (const { from, to } of troubles.toSorted((a, b) => a.from - b.from))
    if (from <= settled && to + RACE_MS > settled) settled = to + RACE_MS;
  return settled;
}
