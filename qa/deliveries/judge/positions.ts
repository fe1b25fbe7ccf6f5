import type { LogEntry } from "@holdfast/sdk/protocol";

/** The positions of the log that match a subscription. */
export interface Positions {
  /** The first position after the given one; Infinity: there is none. */
  next(after: number): number;
  /** The last position before the given one, or 0. */
  before(position: number): number;
  has(position: number): boolean;
  /** The positions of a range, both ends included. */
  within(from: number, to: number): readonly number[];
  /** How many positions follow the given one. */
  beyond(after: number): number;
}

/** One list per subscription, built on first use. */
export function positionsOf(log: readonly LogEntry[]): (models: readonly string[]) => Positions {
  const known = new Map<string, Positions>();
  return (models) => {
    const key = [...models].sort().join(" ");
    const found = known.get(key) ?? listed(pick(log, models));
    known.set(key, found);
    return found;
  };
}

const pick = (log: readonly LogEntry[], models: readonly string[]): number[] =>
  log.filter(({ model }) => models.includes("*") || models.includes(model)).map(({ syncId }) => syncId);

function listed(list: readonly number[]): Positions {
  /** How many positions are at most the given one. */
  const upTo = (position: number): number => {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((list[middle] as number) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    next: (after) => list[upTo(after)] ?? Number.POSITIVE_INFINITY,
    before: (position) => list[upTo(position - 1) - 1] ?? 0,
    has: (position) => list[upTo(position) - 1] === position,
    within: (from, to) => list.slice(upTo(from - 1), upTo(to)),
    beyond: (after) => list.length - upTo(after),
  };
}

/** The last position that had been committed at a time. */
export function headAt(log: readonly LogEntry[], time: number): number {
  let low = 0;
  let high = log.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Date.parse((log[middle] as LogEntry).createdAt) <= time) low = middle + 1;
    else high = middle;
  }
  return log[low - 1]?.syncId ?? 0;
}
