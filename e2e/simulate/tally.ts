/** A schedule in which something was not so. */
export interface Broken {
  readonly seed: number;
  readonly check: string;
  readonly says: string;
}

/** What came of some schedules. */
export interface Tally {
  schedules: number;
  /** Single things that happened in them. */
  picks: number;
  /** How often each kind of thing was done, or went wrong. */
  counts: Record<string, number>;
  broken: Broken[];
}

export const emptyTally = (): Tally => ({ schedules: 0, picks: 0, counts: {}, broken: [] });

export function addTo(sum: Tally, { schedules, picks, counts, broken }: Tally): void {
  sum.schedules += schedules;
  sum.picks += picks;
  for (const [what, often] of Object.entries(counts)) sum.counts[what] = (sum.counts[what] ?? 0) + often;
  sum.broken.push(...broken);
}
