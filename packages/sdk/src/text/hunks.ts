import { diffArrays } from "diff";

/** The tokens `from` up to `to` (exclusive) of the base are replaced. If both are equal, tokens are inserted there. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly tokens: readonly string[];
}

type Tokens = readonly string[];

/**
 * How many tokens may differ before a diff is given up. The cost grows with its square: two unrelated texts of 100 kB
 * take 60 ms with 500, and a second with 2 000.
 */
const MOST_DIFFERENCES = 500;

/**
 * What has changed between two texts, in the order of the base. If too much has, everything between the common
 * beginning and the common end is one change: that is true as well, only less precise.
 */
export function hunksOf(base: Tokens, changed: Tokens): readonly Hunk[] {
  const [start, end] = commonEnds(base, changed);
  const before = base.slice(start, base.length - end);
  const after = changed.slice(start, changed.length - end);
  if (before.length + after.length === 0) return [];
  const whole: Hunk = { from: start, to: start + before.length, tokens: after };
  if (before.length === 0 || after.length === 0) return [whole];
  const parts = diffArrays([...before], [...after], { maxEditLength: MOST_DIFFERENCES });
  if (!parts) return [whole];
  const hunks: Hunk[] = [];
  let at = start;
  let open: { from: number; tokens: string[] } | undefined;
  const close = () => {
    if (open) hunks.push({ ...open, to: at });
    open = undefined;
  };
  for (const { added, removed, value } of parts) {
    if (!added && !removed) close();
    else open ??= { from: at, tokens: [] };
    if (added) open?.tokens.push(...value);
    else at += value.length;
  }
  close();
  return hunks;
}

/** How many tokens are the same at the beginning and at the end. */
function commonEnds(a: Tokens, b: Tokens): readonly [start: number, end: number] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [start, end];
}
