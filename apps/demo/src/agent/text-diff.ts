import { commonWords, isComparable, words } from "../conflicts/common-words.ts";

export interface DiffPiece {
  readonly kind: "kept" | "removed" | "added";
  readonly text: string;
}

/** How many kept words stand on each side of a change. */
const CONTEXT = 4;

/** A change of a text as its removed and added words, with a few kept words around them; "…" stands for the others. */
export function textDiff(before: string, after: string): readonly DiffPiece[] {
  const old = words(before);
  const now = words(after);
  if (!isComparable(old, now)) {
    return [
      { kind: "removed", text: before },
      { kind: "added", text: after },
    ];
  }
  const pieces: DiffPiece[] = [];
  const push = (kind: DiffPiece["kind"], part: readonly string[]) => {
    if (part.length > 0) pieces.push({ kind, text: part.join("") });
  };
  let i = 0;
  let j = 0;
  let kept: string[] = [];
  for (const [atOld, atNow] of [...commonWords(old, now), [old.length, now.length] as const]) {
    if (i < atOld || j < atNow) {
      push("kept", shortened(kept, pieces.length > 0, true));
      kept = [];
      push("removed", old.slice(i, atOld));
      push("added", now.slice(j, atNow));
    }
    const word = now[atNow];
    if (word !== undefined) kept.push(word);
    i = atOld + 1;
    j = atNow + 1;
  }
  push("kept", shortened(kept, pieces.length > 0, false));
  return pieces;
}

/** The kept words next to a change before or behind them. */
function shortened(kept: readonly string[], isBehindChange: boolean, isBeforeChange: boolean): readonly string[] {
  const most = (isBehindChange ? CONTEXT : 0) + (isBeforeChange ? CONTEXT : 0);
  if (kept.length <= most) return kept;
  const head = isBehindChange ? kept.slice(0, CONTEXT) : [];
  const tail = isBeforeChange ? kept.slice(-CONTEXT) : [];
  return [...head, isBehindChange && isBeforeChange ? "… " : "…", ...tail];
}
