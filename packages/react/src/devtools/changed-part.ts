/** A text in three pieces: what the other one begins with too, what is different, what both end with. */
export interface ChangedPart {
  readonly head: string;
  readonly changed: string;
  readonly tail: string;
}

/** So much of what is the same is shown around a change. */
const AROUND = 40;

/** Where a text differs from another. Of a long text what is far from there is left out. */
export function changedPart(text: string, other: string): ChangedPart {
  const mine = [...text];
  const theirs = [...other];
  const most = Math.min(mine.length, theirs.length);
  let head = 0;
  while (head < most && mine[head] === theirs[head]) head += 1;
  let tail = 0;
  while (tail < most - head && mine[mine.length - 1 - tail] === theirs[theirs.length - 1 - tail]) tail += 1;
  const before = mine.slice(0, head);
  const after = mine.slice(mine.length - tail);
  return {
    head: before.length > AROUND ? `…${before.slice(-AROUND).join("")}` : before.join(""),
    changed: mine.slice(head, mine.length - tail).join(""),
    tail: after.length > AROUND ? `${after.slice(0, AROUND).join("")}…` : after.join(""),
  };
}
