import { atPosition } from "../core/log/read-range.ts";
import type { RowChange, Rows, Scope } from "../core/log/rows.ts";
import { recordKey } from "../core/log/tables.ts";
import type { Removed } from "../core/queue/mutation.ts";
import { chunksOf } from "./chunks.ts";
import type { Kept, Storage, StoredLogRange } from "./ports.ts";
import { storedScope } from "./stored-scope.ts";

/** What the keeper reads and which callbacks it notifies. */
export interface RowKeeperDeps {
  current(): Rows;
  toDisk(work: () => Promise<void>): void;
  /** All rows on disk were replaced. `other`: by rows of another log. `scope`: or only those of new parts were added. */
  replaced(other: boolean, scope?: string): void;
  /** These writes have left the queue on disk. */
  settled(removed: readonly Removed[], kept: Kept): void;
  fenced(generation: number): void;
}

/**
 * Stores the rows behind those in memory. While one transaction runs, later ranges are gathered and stored as one, so
 * that a busy log does not build up a queue of transactions.
 */
export class RowKeeper {
  readonly #storage: Storage;
  readonly #deps: RowKeeperDeps;
  #gathered: Gathered | undefined;
  /** Slots to free once all rows have been replaced. */
  #replacing: { removed: Removed[]; generation: number; other: boolean } | undefined;
  #busy = false;

  constructor(storage: Storage, deps: RowKeeperDeps) {
    this.#storage = storage;
    this.#deps = deps;
  }

  keep(range: KeptRange, generation: number): void {
    // All rows are about to be stored, including this range.
    if (this.#replacing) this.keepAll(range.settled, generation);
    else this.#gather(range, generation);
    this.#go();
  }

  keepAll(settled: readonly Removed[], generation: number, other = false): void {
    const removed = [...(this.#replacing?.removed ?? []), ...(this.#gathered?.settled ?? []), ...settled];
    this.#replacing = { removed, generation, other: other || this.#replacing?.other === true };
    this.#gathered = undefined;
    this.#go();
  }

  #gather({ logId, was: scope, from, to, changes, settled }: KeptRange, generation: number): void {
    const was = storedScope(scope);
    this.#gathered ??= { from, changes: new Map(), settled: [], logId, was, to, generation };
    this.#gathered.was ??= was;
    this.#gathered.to = to;
    this.#gathered.generation = generation;
    for (const change of changes) {
      const key = recordKey(change.record);
      const erased = this.#gathered.changes.get(key)?.erased && ({ erased: true } as const);
      this.#gathered.changes.set(key, { ...change, ...erased });
    }
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
      return this.#replaceAll(replacing.removed, replacing.generation, replacing.other);
    }
    const gathered = this.#gathered;
    this.#gathered = undefined;
    if (!gathered) return;
    const { generation, changes, ...range } = gathered;
    const { rowsVersion, viewHash, at, ...rows } = this.#deps.current();
    const scope = storedScope(rows.scope);
    const kept = await this.#storage.keepRows(
      { ...range, rowsVersion, viewHash, scope, at, changes: [...changes.values()] },
      generation,
    );
    if (kept === "fenced") this.#deps.fenced(generation);
    // Another tab has stored rows before, or the store contains another log, view or scope: store all rows of this tab.
    else if (kept === "gap") this.keepAll(gathered.settled, generation);
    else {
      if (range.was !== undefined) this.#deps.replaced(false, scope);
      this.#deps.settled(gathered.settled, kept);
    }
  }

  /**
   * Stores all rows in chunks. An interrupted replacement cannot be continued, because memory does not match server
   * pages.
   */
  async #replaceAll(settled: readonly Removed[], generation: number, other: boolean): Promise<void> {
    const { tables, logId, rowsVersion, viewHash, position: stamp, scope, at } = atPosition(this.#deps.current());
    if (logId === undefined || stamp === undefined) return;
    const changes = Object.entries(tables).flatMap(([model, table]) =>
      [...table.entries()].map(([id, value]): RowChange => ({ record: { model, id }, value })),
    );
    const all = { logId, rowsVersion, viewHash, stamp, begin: undefined, changes, scope, at, cursor: null };
    for (const page of chunksOf(all)) {
      // This tab is the leader, so no other tab can have written between two chunks unless it has become the leader.
      if ((await this.#storage.keepPage(page, generation)) !== "kept") return this.#deps.fenced(generation);
    }
    this.#deps.replaced(other);
    if (settled.length === 0) return;
    const kept = await this.#storage.forget(settled, generation);
    if (kept === "fenced") return this.#deps.fenced(generation);
    this.#deps.settled(settled, kept);
  }
}

/** A range of the log, and the writes that it settled. */
type KeptRange = Omit<StoredLogRange, "settled" | "scope" | "was"> & {
  readonly was?: Scope | undefined;
  readonly settled: readonly Removed[];
};

/** Several ranges of one log as one: only the last change of each record is stored. */
interface Gathered {
  readonly logId: string;
  /** The scope of the rows on disk, if it changes. */
  was: string | undefined;
  readonly from: number;
  to: number;
  generation: number;
  readonly changes: Map<string, RowChange>;
  readonly settled: Removed[];
}
