/** Words with the space behind them, so that neighbours that changed are marked as one phrase. */
export const words = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? [];

// Comparing takes words × words steps; beyond this a reader looks at the whole text anyway.
const LARGEST_TABLE = 1_000_000;

/** Whether two texts are short enough to be compared word by word. */
export const isComparable = (before: readonly string[], after: readonly string[]): boolean =>
  before.length * after.length <= LARGEST_TABLE;

/** The longest common subsequence of words, as pairs of places in `before` and `after`; spaces do not count. */
export function commonWords(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [number, number])[] {
  const same = (i: number, j: number) => before[i]?.trim() === after[j]?.trim();
  // lengths[i][j]: how many words the tails from i and from j have in common.
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const length = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const row = lengths[i] as Uint32Array;
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] = same(i, j) ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (same(i, j)) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (length(i + 1, j) >= length(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
