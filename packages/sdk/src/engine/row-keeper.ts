import type { RowChange, Rows } from "../core/log/rows.ts";
import { recordKey } from "../core/log/tables.ts";
import type { Removed } from "../core/queue/mutation.ts";
import { chunksOf } from "./chunks.ts";
import type { Kept, Storage, StoredLogRange } from "./ports.ts";

/** What the keeper needs to know, and whom it tells. */
export interface RowKeeperDeps {
  current(): Rows;
  toDisk(work: () => Promise<void>): void;
  /** All rows on disk are others by now. `other`: of another log. */
  replaced(other: boolean): void;
  /** These have left the queue on disk. */
  settled(gone: readonly Removed[], kept: Kept): void;
  fenced(generation: number): void;
}

/**
 * Keeps the rows on disk behind those in memory. While one write is under way, what comes meanwhile is gathered and
 * goes as one: a busy log must not become a queue of transactions.
 */
export class RowKeeper {
  readonly #storage: Storage;
  readonly #deps: RowKeeperDeps;
  #gathered: Gathered | undefined;
  /** Places that are free once all rows have been replaced. */
  #replacing: { gone: Removed[]; generation: number; other: boolean } | undefined;
  #busy = false;

  constructor(storage: Storage, deps: RowKeeperDeps) {
    this.#storage = storage;
    this.#deps = deps;
  }

  keep(stretch: LogRange, generation: number): void {
    // All rows are about to be written as they are by then; this stretch is among them.
    if (this.#replacing) this.keepAll(stretch.settled, generation);
    else this.#gather(stretch, generation);
    this.#go();
  }

  keepAll(settled: readonly Removed[], generation: number, other = false): void {
    const gone = [...(this.#replacing?.gone ?? []), ...(this.#gathered?.settled ?? []), ...settled];
    this.#replacing = { gone, generation, other: other || this.#replacing?.other === true };
    this.#gathered = undefined;
    this.#go();
  }

  #gather({ logId, from, to, changes, settled }: LogRange, generation: number): void {
    this.#gathered ??= { from, changes: new Map(), settled: [], logId, to, generation };
    this.#gathered.to = to;
    this.#gathered.generation = generation;
    for (const change of changes) this.#gathered.changes.set(recordKey(change.record), change);
    this.#gathered.settled.push(...settled);
  }

  #go(): void {
    if (this.#busy) return;
    this.#busy = true;
    this.#deps.toDisk(async () => {
      try {
        while (this.#gathered || this.#replacing) await this.#one();
      } finally {
        this.#busy = false;
      }
    });
  }

  async #one(): Promise<void> {
    const replacing = this.#replacing;
    if (replacing) {
      this.#replacing = undefined;
      return this.#replaceAll(replacing.gone, replacing.generation, replacing.other);
    }
    const gathered = this.#gathered;
    this.#gathered = undefined;
    if (!gathered) return;
    const { generation, changes, ...stretch } = gathered;
    const kept = await this.#storage.keepRows({ ...stretch, changes: [...changes.values()] }, generation);
    if (kept === "fenced") this.#deps.fenced(generation);
    // Another tab that kept the store so far has gone, or the store holds another log: this tab writes all it has.
    else if (kept === "gap") this.keepAll(gathered.settled, generation);
    else this.#deps.settled(gathered.settled, kept);
  }

  /** In pieces. Nobody goes on with half of it: what is in memory is not a page of the server. */
  async #replaceAll(settled: readonly Removed[], generation: number, other: boolean): Promise<void> {
    const { tables, logId, rowsVersion, viewHash, position: stamp, scope } = this.#deps.current();
    if (logId === undefined || stamp === undefined) return;
    const changes = Object.entries(tables).flatMap(([model, table]) =>
      [...table.entries()].map(([id, value]): RowChange => ({ record: { model, id }, value })),
    );
    const all = { logId, rowsVersion, viewHash, stamp, begin: undefined, changes, scope, cursor: null };
    for (const page of chunksOf(all)) {
      // Nobody else leads, so that nobody else can have come between two pages of this.
      if ((await this.#storage.keepPage(page, generation)) !== "kept") return this.#deps.fenced(generation);
    }
    this.#deps.replaced(other);
    if (settled.length === 0) return;
    const kept = await this.#storage.forget(settled, generation);
    if (kept === "fenced") return this.#deps.fenced(generation);
    this.#deps.settled(settled, kept);
  }
}

/** A stretch of the log, and what it settled. */
type LogRange = Omit<StoredLogRange, "settled"> & { readonly settled: readonly Removed[] };

/** Several stretches of one log as one: of each record only the last change matters. */
interface Gathered {
  readonly logId: string;
  readonly from: number;
  to: number;
  generation: number;
  readonly changes: Map<string, RowChange>;
  readonly settled: Removed[];
}
