import { commonWords, isComparable, words } from "./common-words.ts";

/** Both changes in one text, word by word; undefined where they touch the same words, or the texts are too long to be compared. */
export function mergeWords(base: string, mine: string, theirs: string): string | undefined {
  const was = words(base);
  const my = words(mine);
  const their = words(theirs);
  if (!isComparable(was, my) || !isComparable(was, their)) return undefined;
  const inMine = new Map(commonWords(was, my));
  const inTheirs = new Map(commonWords(was, their));
  const merged: string[] = [];
  // The words on which all three agree. The text between two of them comes from the side that changed it.
  const agreed = was.flatMap((_, at) => {
    const [myAt, theirAt] = [inMine.get(at), inTheirs.get(at)];
    return myAt === undefined || theirAt === undefined ? [] : [[at, myAt, theirAt] as const];
  });
  let [i, j, k] = [0, 0, 0];
  for (const [at, myAt, theirAt] of [...agreed, [was.length, my.length, their.length] as const]) {
    const between = choose(was.slice(i, at), my.slice(j, myAt), their.slice(k, theirAt));
    if (!between) return undefined;
    merged.push(...between);
    const word = spaced(was[at], my[myAt], their[theirAt]);
    if (word !== undefined) merged.push(word);
    [i, j, k] = [at + 1, myAt + 1, theirAt + 1];
  }
  return joined(merged);
}

function choose(
  was: readonly string[],
  mine: readonly string[],
  theirs: readonly string[],
): readonly string[] | undefined {
  if (isSame(mine, was)) return theirs;
  return isSame(theirs, was) || isSame(mine, theirs) ? mine : undefined;
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((word, at) => word.trim() === b[at]?.trim());

/** The same word in all three, with the space of the side that changed it. */
const spaced = (was: string | undefined, mine: string | undefined, theirs: string | undefined): string | undefined =>
  mine === was ? theirs : mine;

/** A word that was the last of its text has no space behind it, and may not be the last any more. */
const joined = (all: readonly string[]): string =>
  all.map((word, at) => (at < all.length - 1 && !/\s$/.test(word) ? `${word} ` : word)).join("");
