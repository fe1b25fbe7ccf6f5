/** How often each kind is due, over all writers together, in milliseconds. */
export type Periods<Kind extends string> = Readonly<Record<Kind, number>>;

export interface Turns<Kind extends string> {
  /** A kind that is due now, if one is. It is then the caller's, and due again a period later. */
  take(now: number): Kind | undefined;
  /** The caller could not do it: it is due at once. */
  missed(kind: Kind): void;
}

/**
 * What is large is due by the clock, and not by chance: what a run writes in all is bounded by its length, however many
 * writers it has. Each kind is due for the first time after a third of its period.
 */
export function createTurns<Kind extends string>(periods: Periods<Kind>, start: number): Turns<Kind> {
  const kinds = Object.keys(periods) as Kind[];
  const dueAt = new Map(kinds.map((kind) => [kind, start + periods[kind] / 3]));
  return {
    take(now) {
      const kind = kinds.find((one) => (dueAt.get(one) ?? 0) <= now);
      if (kind !== undefined) dueAt.set(kind, now + periods[kind]);
      return kind;
    },
    missed: (kind) => void dueAt.set(kind, Number.NEGATIVE_INFINITY),
  };
}
