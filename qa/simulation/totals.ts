/** A schedule in which something was not so. */
export interface Broken {
  readonly seed: number;
  readonly check: string;
  readonly says: string;
}

/** The results of some schedules. */
export interface Totals {
  schedules: number;
  /** Single things that happened in them. */
  picks: number;
  /** How often each kind of thing was done, or went wrong. */
  counts: Record<string, number>;
  broken: Broken[];
}

export const emptyTotals = (): Totals => ({ schedules: 0, picks: 0, counts: {}, broken: [] });

export function addTo(sum: Totals, { schedules, picks, counts, broken }: Totals): void {
  sum.schedules += schedules;
  sum.picks += picks;
  for (const [what, often] of Object.entries(counts)) sum.counts[what] = (sum.counts[what] ?? 0) + often;
  sum.broken.push(...broken);
}
