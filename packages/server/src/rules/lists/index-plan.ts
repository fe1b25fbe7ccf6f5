/** What has to be done so that the indexes that are wanted are there, and no others. */
export interface IndexPlan {
  readonly drop: readonly string[];
  readonly create: readonly string[];
  /** Wanted, but more than there may be. */
  readonly refused: readonly string[];
}

/**
 * An index whose building failed is dropped and built again. Each costs every write of its table, so that there are
 * `most` at most. Where more are wanted the tenants choose in turn, one each time, those that are there before others; an
 * index that an earlier one chose is everyone's. `wanted`: by tenant.
 */
export function planIndexes(
  wanted: readonly (readonly string[])[],
  stored: readonly { readonly name: string; readonly valid: boolean }[],
  most: number,
): IndexPlan {
  const valid = new Set(stored.filter((index) => index.valid).map(({ name }) => name));
  const chosen = choose(
    wanted.map((own) => [...new Set(own)].sort((a, b) => Number(valid.has(b)) - Number(valid.has(a)))),
    most,
  );
  const all = [...new Set(wanted.flat())];
  return {
    drop: stored.filter(({ name }) => !(valid.has(name) && chosen.has(name))).map(({ name }) => name),
    create: all.filter((name) => chosen.has(name) && !valid.has(name)),
    refused: all.filter((name) => !chosen.has(name)),
  };
}

function choose(wanted: readonly (readonly string[])[], most: number): ReadonlySet<string> {
  const chosen = new Set<string>();
  const longest = Math.max(0, ...wanted.map(({ length }) => length));
  for (let turn = 0; turn < longest; turn++)
    for (const own of wanted) {
      const name = own[turn];
      if (name !== undefined && (chosen.has(name) || chosen.size < most)) chosen.add(name);
    }
  return chosen;
}
