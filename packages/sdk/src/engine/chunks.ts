import type { SnapshotPage } from "../core/effects.ts";
import type { StoredPage } from "./ports.ts";

/** Rows of one transaction: a frozen tab must not hold the database for long. */
const PIECE = 2_000;

/** A page as it is kept, a transaction each. One that is begun and not finished is read again from where it begins. */
export function chunksOf({ begin, changes, cursor, ...page }: SnapshotPage): readonly StoredPage[] {
  const pieces: StoredPage[] = [];
  for (let at = 0; at === 0 || at < changes.length; at += PIECE)
    pieces.push({
      ...page,
      first: begin === undefined && at === 0,
      changes: changes.slice(at, at + PIECE),
      cursor: at + PIECE < changes.length ? (begin ?? "") : cursor,
    });
  return pieces;
}
