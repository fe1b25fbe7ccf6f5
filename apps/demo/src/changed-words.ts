export interface Piece {
  readonly text: string;
  readonly isChanged: boolean;
}

// Comparing takes words × words steps; beyond this a reader looks at the whole text anyway.
const LARGEST_TABLE = 1_000_000;

/** `text`, cut into pieces that stood in `base` already and pieces that did not. */
export function changedWords(base: string, text: string): readonly Piece[] {
  const before = words(base);
  const after = words(text);
  if (before.length * after.length > LARGEST_TABLE) return [{ text, isChanged: base !== text }];
  const kept = longestCommon(before, after);
  const pieces: Piece[] = [];
  after.forEach((word, at) => {
    const isChanged = !kept.has(at);
    const last = pieces.at(-1);
    if (last?.isChanged === isChanged) pieces[pieces.length - 1] = { text: last.text + word, isChanged };
    else pieces.push({ text: word, isChanged });
  });
  return pieces.flatMap(withoutSpaceBehind);
}

/** A mark ends with its last word. */
function withoutSpaceBehind(piece: Piece): readonly Piece[] {
  const text = piece.text.trimEnd();
  if (!piece.isChanged || text === "" || text === piece.text) return [piece];
  return [
    { text, isChanged: true },
    { text: piece.text.slice(text.length), isChanged: false },
  ];
}

/** Words with the space behind them, so that neighbours that changed are marked as one phrase. */
const words = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? [];

/** Positions of `after` that belong to the longest common subsequence of words (spaces do not count). */
function longestCommon(before: readonly string[], after: readonly string[]): Set<number> {
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
  const kept = new Set<number>();
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (same(i, j)) {
      kept.add(j);
      i += 1;
      j += 1;
    } else if (length(i + 1, j) >= length(i, j + 1)) i += 1;
    else j += 1;
  }
  return kept;
}
