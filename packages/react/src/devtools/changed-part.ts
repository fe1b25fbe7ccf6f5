/** A string in three parts: the common beginning, the difference, and the common end. */
export interface ChangedPart {
  readonly head: string;
  readonly changed: string;
  readonly tail: string;
}

/** How many unchanged characters to show around a change. */
const AROUND = 40;

/** Where a string differs from another. Long strings are cut to the surroundings of the difference. */
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
