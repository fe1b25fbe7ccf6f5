/** What has to be done so that the indexes that are wanted are there, and no others. */
export interface IndexPlan {
  readonly drop: readonly string[];
  readonly create: readonly string[];
  /** Wanted, but more than there may be. */
  readonly refused: readonly string[];
}

/**
 * An index whose building failed is dropped and built again. Each costs every write of its table, so that there are
 * `most` at most: those that are there stay, and of the others the first come in.
 */
export function planIndexes(
  wanted: readonly string[],
  stored: readonly { readonly name: string; readonly valid: boolean }[],
  most: number,
): IndexPlan {
  const isWanted = new Set(wanted);
  const kept = new Set(stored.filter(({ name, valid }) => valid && isWanted.has(name)).map(({ name }) => name));
  const missing = [...isWanted].filter((name) => !kept.has(name));
  const room = Math.max(0, most - kept.size);
  return {
    drop: stored.filter(({ name }) => !kept.has(name)).map(({ name }) => name),
    create: missing.slice(0, room),
    refused: missing.slice(room),
  };
}
