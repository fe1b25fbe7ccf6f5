import type { StoredSnapshotPage } from "../core/effects.ts";
import { pageOf } from "./page-cursor.ts";
import type { StoredPage } from "./ports.ts";
import { storedScope } from "./stored-scope.ts";

/** Rows per transaction. Short transactions, so that a frozen tab does not block the database for long. */
const PIECE = 2_000;

/** Splits a page into chunks, one transaction each. A page of which only some chunks were stored is read again. */
export function chunksOf({ begin, changes, cursor, scope, ...page }: StoredSnapshotPage): readonly StoredPage[] {
  const pieces: StoredPage[] = [];
  for (let at = 0; at === 0 || at < changes.length; at += PIECE) {
    const isLast = at + PIECE >= changes.length;
    pieces.push({
      ...page,
      scope: storedScope(scope),
      first: begin === undefined && at === 0,
      changes: changes.slice(at, at + PIECE),
      cursor: isLast && cursor === null ? null : (pageOf(isLast ? cursor : (begin ?? null)) ?? ""),
    });
  }
  return pieces;
}
