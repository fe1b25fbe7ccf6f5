import type { LogEntry } from "@holdfast/sdk/protocol";

/** The positions of the log that a subscription names. */
export interface Positions {
  /** The first one beyond a position; Infinity: there is none. */
  next(after: number): number;
  /** The last one before a position, or 0. */
  before(position: number): number;
  has(position: number): boolean;
  /** From one to another, both included. */
  within(from: number, to: number): readonly number[];
  /** How many lie beyond a position. */
  beyond(after: number): number;
}

/** For every subscription one list, made when it is first asked for. */
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
  /** How many are at most that. */
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

/** Where the log ended at a time: the last position that had been committed by then. */
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
