import type { Database } from "./database.ts";
import { rowKey, type StoredChunk, type StoredRow } from "./stored.ts";

/** How many chunks to process per transaction: the writes of all tabs wait for it. */
const PARTS_AT_ONCE = 4;
const ROWS_AT_ONCE = 200;

/**
 * The stored tombstones. A tombstone overrides the snapshot chunks that contain its record. When no chunk contains the
 * record any more, the tombstone can be deleted. Without pruning, each start would read every tombstone ever stored.
 */
export class Tombstones {
  readonly #byKey = new Map<string, StoredRow>();
  /** Counts how many times all rows were replaced. */
  #era = 0;
  #isPruning = false;

  /** Notes rows that are being stored. */
  note(rows: readonly StoredRow[]): void {
    for (const row of rows)
      if (row.gone || row.erased) this.#byKey.set(rowKey(row), row);
      else this.#byKey.delete(rowKey(row));
  }

  /** The rows as they are stored: until the chunks are rewritten, the row of an erased record says so. */
  marked(rows: readonly StoredRow[]): readonly StoredRow[] {
    return rows.map((row) => {
      const isErased = row.erased || this.#byKey.get(rowKey(row))?.erased;
      const marked = isErased ? { ...row, erased: true as const } : row;
      // Now, because the next rows may be stored at the same time. What is pruned is looked up on disk.
      if (isErased) this.#byKey.set(rowKey(row), marked);
      return marked;
    });
  }

  /** All rows are about to be replaced, so the present tombstones become irrelevant. */
  forget(): void {
    this.#era += 1;
    this.#byKey.clear();
  }

  /**
   * Removes deleted records from the chunks, a few chunks at a time, and then their tombstones. It runs once there are
   * enough of them, or as soon as one belongs to an erased record.
   */
  async prune(db: Database, atLeast: number, fenced: Fenced): Promise<void> {
    if (this.#isPruning || (this.#byKey.size < atLeast && !this.#hasErased())) return;
    this.#isPruning = true;
    try {
      // Records that are erased during pruning are pruned in the same run.
      do await this.#prune(db, fenced);
      while (this.#hasErased());
    } finally {
      this.#isPruning = false;
    }
  }

  #hasErased(): boolean {
    for (const { erased } of this.#byKey.values()) if (erased) return true;
    return false;
  }

  async #prune(db: Database, fenced: Fenced): Promise<void> {
    const era = this.#era;
    // Another tab that led meanwhile may have restored some records. Check on disk which ones are still deleted.
    const asked = [...this.#byKey.values()];
    const gone = new Map<string, StoredRow>();
    for (const slice of slicesOf(asked))
      for (const row of await fenced(() => goneOf(db, slice))) gone.set(rowKey(row), row);
    for (let last: number | undefined = 0; last !== undefined; ) {
      const from: number = last;
      last = await fenced(async () => {
        if (era !== this.#era) throw new Replaced();
        const parts = await db.parts.where(":id").above(from).limit(PARTS_AT_ONCE).toArray();
        await Promise.all(parts.map((part) => withoutGone(db, part, gone)));
        return parts.at(-1)?.n;
      });
    }
    for (const slice of slicesOf([...gone.values()]))
      await fenced(async () => {
        if (era !== this.#era) throw new Replaced();
        const over = await goneOf(db, slice);
        const isAnew = (row: StoredRow) => row.gone !== true;
        await db.rows.bulkDelete(over.filter((row) => !isAnew(row)).map(({ model, id }) => [model, id]));
        // A new record with the id of an erased one: no chunk has the erased one any more.
        await db.rows.bulkPut(over.filter(isAnew).map(({ erased: _, ...row }) => row));
      });
    // Forget the ones that are no tombstones any more.
    for (const row of asked) this.#byKey.delete(rowKey(row));
  }
}

/** Does the work in one transaction. Throws if another tab leads by now. */
type Fenced = <T>(work: () => Promise<T>) => Promise<T>;

/** All rows were replaced during the pruning, which removed the tombstones too. */
class Replaced extends Error {}

/** Those of the rows whose records must not be in the chunks: tombstones, and new records with the id of an erased one. */
async function goneOf(db: Database, asked: readonly StoredRow[]): Promise<readonly StoredRow[]> {
  const rows = await db.rows.bulkGet(asked.map(({ model, id }) => [model, id]));
  return rows.filter((row) => row?.gone === true || row?.erased === true).filter((row) => row !== undefined);
}

function* slicesOf(rows: readonly StoredRow[]): Generator<readonly StoredRow[]> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) yield rows.slice(at, at + ROWS_AT_ONCE);
}

async function withoutGone(db: Database, part: StoredChunk, gone: ReadonlyMap<string, StoredRow>): Promise<void> {
  const rows = JSON.parse(part.rows) as StoredRow[];
  const left = rows.filter((row) => !gone.has(rowKey(row)));
  if (left.length === rows.length || part.n === undefined) return;
  if (left.length === 0) await db.parts.delete(part.n);
  else await db.parts.put({ ...part, rows: JSON.stringify(left) });
}
