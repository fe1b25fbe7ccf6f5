/*
 * The client takes a page of a snapshot in piece by piece. Its cursor within a page is the cursor of the page, and how
 * many of the rows it has. Server and disk know only pages, whose cursors are one line.
 */
const SEPARATOR = "\n";

/** Where the rest of a page begins. `at`: where these rows began; null: with the first page. */
export function restOf(at: string | null, rows: number): string {
  const [page = "", before = 0] = (at ?? "").split(SEPARATOR);
  return `${page}${SEPARATOR}${Number(before) + rows}`;
}

/** The cursor of the page in which this place is; null: the first page. */
export const pageOf = (at: string | null): string | null => at?.split(SEPARATOR)[0] || null;
