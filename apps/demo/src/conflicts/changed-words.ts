import { commonWords, isComparable, words } from "./common-words.ts";

export interface Piece {
  readonly text: string;
  readonly isChanged: boolean;
}

/** `text`, cut into pieces that stood in `base` already and pieces that did not. */
export function changedWords(base: string, text: string): readonly Piece[] {
  const before = words(base);
  const after = words(text);
  if (!isComparable(before, after)) return [{ text, isChanged: base !== text }];
  const kept = new Set(commonWords(before, after).map(([, at]) => at));
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
