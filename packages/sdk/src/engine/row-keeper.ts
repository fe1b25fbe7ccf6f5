import type { RowChange, Rows } from "../core/rows.ts";
import { recordKey } from "../core/tables.ts";
import type { Storage, StoredStretch } from "./ports.ts";

/**
 * Keeps the rows on disk behind those in memory. While one write is under way, what comes meanwhile is gathered and
 * goes as one: a busy log must not become a queue of transactions.
 */
export class RowKeeper {
  readonly #storage: Storage;
  readonly #current: () => Rows;
  readonly #toDisk: (work: () => Promise<void>) => void;
  #gathered: Gathered | undefined;
  /** Places that are free once all rows have been replaced. */
  #replacing: number[] | undefined;
  #busy = false;

  constructor(storage: Storage, current: () => Rows, toDisk: (work: () => Promise<void>) => void) {
    this.#storage = storage;
    this.#current = current;
    this.#toDisk = toDisk;
  }

  keep(stretch: StoredStretch): void {
    // All rows are about to be written as they are by then; this stretch is among them.
    if (this.#replacing) this.#replacing.push(...stretch.settled);
    else this.#gather(stretch);
    this.#go();
  }

  keepAll(settled: readonly number[]): void {
    this.#replacing = [...(this.#replacing ?? []), ...(this.#gathered?.settled ?? []), ...settled];
    this.#gathered = undefined;
    this.#go();
  }

  #gather({ logId, from, to, changes, settled }: StoredStretch): void {
    this.#gathered ??= { from, changes: new Map(), settled: [], logId, to };
    this.#gathered.to = to;
    for (const change of changes) this.#gathered.changes.set(recordKey(change.record), change);
    this.#gathered.settled.push(...settled);
  }

  #go(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#toDisk(async () => {
      try {
        while (this.#gathered || this.#replacing) await this.#one();
      } finally {
        this.#busy = false;
      }
    });
  }

  async #one(): Promise<void> {
    const settled = this.#replacing;
    if (settled) {
      this.#replacing = undefined;
      await this.#storage.keepSnapshot(this.#current());
      if (settled.length > 0) await this.#storage.forget(settled);
      return;
    }
    const gathered = this.#gathered;
    this.#gathered = undefined;
    if (!gathered) return;
    const kept = await this.#storage.keepRows({ ...gathered, changes: [...gathered.changes.values()] });
    // Another tab that kept the store so far has gone, or the store holds another log: this tab writes all it has.
    if (kept === "gap") this.keepAll(gathered.settled);
  }
}

/** Several stretches of one log as one: of each record only the last change matters. */
interface Gathered {
  readonly logId: string;
  readonly from: number;
  to: number;
  readonly changes: Map<string, RowChange>;
  readonly settled: number[];
}
