import { type Hunk, hunksOf } from "./hunks.ts";
import { tokensOf } from "./tokens.ts";

export type MergedText = { readonly text: string } | { readonly conflict: true };

const CONFLICT: MergedText = { conflict: true };

/**
 * Merges two texts that were both made from a base, word by word: changes in different places both stay, the same
 * change on both sides counts once, and different changes of the same place conflict. Mine and theirs may be swapped.
 */
export function mergeText(base: string, mine: string, theirs: string): MergedText {
  if (mine === theirs || theirs === base) return { text: mine };
  if (mine === base) return { text: theirs };
  const joined = joinedApart(base, mine, theirs);
  if (joined !== undefined) return { text: joined };
  const tokens = tokensOf(base);
  const sides = [mine, theirs].map((text) => [...hunksOf(tokens, tokensOf(text))]) as [Hunk[], Hunk[]];
  let text = "";
  let at = 0;
  /** Where changes of both sides meet: there, two words must not become one. */
  const seams: number[] = [];
  let last: { readonly side: 0 | 1; readonly to: number } | undefined;
  for (;;) {
    const [ours, others] = [sides[0][0], sides[1][0]];
    if (!ours && !others) break;
    const side = !others || (ours && isBefore(ours, others)) ? 0 : 1;
    const hunk = sides[side].shift() as Hunk;
    const other = sides[1 - side]?.[0];
    if (other && overlap(hunk, other)) {
      if (!isSame(hunk, other)) return CONFLICT;
      sides[1 - side]?.shift();
    }
    text += tokens.slice(at, hunk.from).join("");
    if (last && last.side !== side && last.to === hunk.from) seams.push(text.length);
    text += hunk.tokens.join("");
    at = hunk.to;
    last = { side, to: hunk.to };
  }
  text += tokens.slice(at).join("");
  return seams.some((seam) => isInsideWord(text, seam)) ? CONFLICT : { text };
}

/** At one place, an insertion comes before a replacement of what follows. */
const isBefore = (a: Hunk, b: Hunk): boolean => a.from < b.from || (a.from === b.from && a.to <= b.to);

/** Whether both change the same tokens, or insert at the same place. */
const overlap = (a: Hunk, b: Hunk): boolean =>
  (a.from < b.to && b.from < a.to) || (a.from === b.from && a.from === a.to && b.from === b.to);

const isSame = (a: Hunk, b: Hunk): boolean =>
  a.from === b.from && a.to === b.to && a.tokens.join("") === b.tokens.join("");

const isInsideWord = (text: string, at: number): boolean =>
  /[\p{L}\p{M}\p{N}_]$/u.test(text.slice(Math.max(0, at - 2), at)) &&
  /^[\p{L}\p{M}\p{N}_]/u.test(text.slice(at, at + 2));

interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * The usual case, without a diff: all that one side has changed is before all that the other has, with whitespace
 * between them. A long text in which two people type takes a hundredth of the time. Undefined: it is another case.
 */
function joinedApart(base: string, mine: string, theirs: string): string | undefined {
  const [a, b] = [changeOf(base, mine), changeOf(base, theirs)];
  const [first, second] = a.from < b.from ? [a, b] : [b, a];
  if (first.to >= second.from) return undefined;
  return (
    base.slice(0, first.from) + first.text + base.slice(first.to, second.from) + second.text + base.slice(second.to)
  );
}

/** All that has changed as one change, with the whole words around it. */
function changeOf(base: string, changed: string): Change {
  const most = Math.min(base.length, changed.length);
  let from = 0;
  while (from < most && base[from] === changed[from]) from += 1;
  let end = 0;
  while (end < most - from && base[base.length - 1 - end] === changed[changed.length - 1 - end]) end += 1;
  while (from > 0 && !isSpace(base, from - 1)) from -= 1;
  while (end > 0 && !isSpace(base, base.length - end)) end -= 1;
  return { from, to: base.length - end, text: changed.slice(from, changed.length - end) };
}

const isSpace = (text: string, at: number): boolean => /\s/.test(text[at] ?? "");
