/** Where the directory says that a tenant lives, and which databases have a log of it. By the names of the databases. */
export interface TenantPlaces {
  readonly expected: string;
  readonly logs: readonly string[];
  /** Databases that cannot be asked now. */
  readonly unknown: readonly string[];
  /** It is on its way to another database. */
  readonly moving: boolean;
}

/** "several": more than one log. "elsewhere": the only one is not where the directory says. "none": no log at all. */
export type PlaceFault = "several" | "elsewhere" | "none";

/** After one of the databases was restored without the others. A move by itself is no fault. */
export function judgePlaces({ expected, logs, unknown, moving }: TenantPlaces): PlaceFault | undefined {
  if (logs.length > 1) return "several";
  // The arrival of a move counts as a log, and the move opens it by itself.
  if (logs.length === 1) return logs[0] === expected || moving || unknown.includes(expected) ? undefined : "elsewhere";
  return unknown.length > 0 ? undefined : "none";
}
