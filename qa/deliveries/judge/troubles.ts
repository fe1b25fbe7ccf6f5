import type { Span, Trouble } from "./evidence.ts";

/** For this long after a response, or after an owner's action, its effect may still be pending. */
export const SETTLE_MS = 5_000;
export const RACE_MS = 1_000;

/** Whether a process had a fault in this period. */
export const isTroubled = (troubles: readonly Trouble[], from: number, to: number): boolean =>
  troubles.some((trouble) => trouble.from <= to && from <= trouble.to);

/** When every server certainly acts on the owner's action. */
export function settledAt({ answered }: Pick<Span, "answered">, troubles: readonly Trouble[]): number {
  let settled = answered + RACE_MS;
  for (const { from, to } of troubles.toSorted((a, b) => a.from - b.from))
    if (from <= settled && to + RACE_MS > settled) settled = to + RACE_MS;
  return settled;
}
