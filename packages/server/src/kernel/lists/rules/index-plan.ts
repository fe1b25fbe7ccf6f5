import { type Field, isScalar } from "@holdfast/sdk/protocol";

/** Whether an index finds records by the values of a field: of an array, by its items. */
export const isIndexable = (field: Pick<Field, "type">): boolean => isScalar(field) || field.type === "array";

/** The changes that make the existing indexes match the wanted ones. */
export interface IndexPlan {
  readonly drop: readonly string[];
  readonly create: readonly string[];
  /** Wanted, but beyond the limit. */
  readonly refused: readonly string[];
}

/**
 * Plans which indexes to create and drop. An index whose build failed is dropped and built again. Every index makes all
 * writes to the table more expensive, so there are at most `most`. If more are wanted, tenants choose round-robin, one
 * index at a time, existing ones first; tenants share an index with the same definition. `wanted`: by tenant.
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
