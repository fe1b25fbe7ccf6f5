import type { Database } from "./database.ts";
import { rowKey, type StoredChunk, type StoredRow } from "./stored.ts";

/** So much is gone through in one transaction: the writes of all tabs wait for it. */
const PARTS_AT_ONCE = 4;
const ROWS_AT_ONCE = 200;

/**
 * Which records are stored as gone. A tombstone has to stand above what a part says of its record; once no part names the
 * record any more, nothing is left for it to say. Without pruning each start would read all that ever went.
 */
export class Tombstones {
  readonly #byKey = new Map<string, StoredRow>();
  /** Counts how often all rows were replaced. */
  #era = 0;
  #isPruning = false;

  /** These rows are stored from now on. */
  note(rows: readonly StoredRow[]): void {
    for (const row of rows)
      if (row.gone) this.#byKey.set(rowKey(row), row);
      else this.#byKey.delete(rowKey(row));
  }

  /** All rows are about to be replaced: what is gone of those that come is another matter. */
  forget(): void {
    this.#era += 1;
    this.#byKey.clear();
  }

  /**
   * Takes the gone records out of the parts, a few parts at a time, and then the tombstones away: once there are so many
   * of them, or as soon as one is of an erased record.
   */
  async prune(db: Database, atLeast: number, fenced: Fenced): Promise<void> {
    if (this.#isPruning || (this.#byKey.size < atLeast && !this.#hasErased())) return;
    this.#isPruning = true;
    try {
      // What is erased while the others are pruned does not wait for a next time.
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
    // Another tab that led meanwhile may have brought some of them back: the disk says which are gone.
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
        await db.rows.bulkDelete(over.map(({ model, id }) => [model, id]));
      });
    // Those that are no tombstones any more are none to prune later.
    for (const row of asked) this.#byKey.delete(rowKey(row));
  }
}

/** Does the work in one transaction, and throws where another tab leads by now. */
type Fenced = <T>(work: () => Promise<T>) => Promise<T>;

/** All rows were replaced while they were pruned: what was to go is gone with them. */
class Replaced extends Error {}

async function goneOf(db: Database, asked: readonly StoredRow[]): Promise<readonly StoredRow[]> {
  const rows = await db.rows.bulkGet(asked.map(({ model, id }) => [model, id]));
  return rows.filter((row) => row?.gone === true).filter((row) => row !== undefined);
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
