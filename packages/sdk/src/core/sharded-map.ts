const SHARDS = 256;
type Shard<V> = ReadonlyMap<string, V> | undefined;

export interface MapDraft<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/**
 * A map that is never changed in place. A change copies one of 256 shards, so that one write among
 * 10 000 rows copies about 40 entries instead of 10 000, and the map before it stays as it was.
 */
export class ShardedMap<V> {
  readonly size: number;
  readonly #shards: readonly Shard<V>[];

  private constructor(shards: readonly Shard<V>[], size: number) {
    this.#shards = shards;
    this.size = size;
  }

  static empty<V>(): ShardedMap<V> {
    return new ShardedMap<V>(new Array<Shard<V>>(SHARDS).fill(undefined), 0);
  }

  get(key: string): V | undefined {
    return this.#shards[shardOf(key)]?.get(key);
  }

  has(key: string): boolean {
    return this.#shards[shardOf(key)]?.has(key) ?? false;
  }

  set(key: string, value: V): ShardedMap<V> {
    return this.edit((draft) => draft.set(key, value));
  }

  /** Several changes at once; each shard is copied at most once. Without a change the same map returns. */
  edit(change: (draft: MapDraft<V>) => void): ShardedMap<V> {
    const shards = this.#shards.slice();
    const own = new Map<number, Map<string, V>>();
    let size = this.size;
    const ownShard = (key: string) => {
      const index = shardOf(key);
      let shard = own.get(index);
      if (!shard) {
        shard = new Map(shards[index]);
        own.set(index, shard);
        shards[index] = shard;
      }
      return shard;
    };
    change({
      get: (key) => shards[shardOf(key)]?.get(key),
      set: (key, value) => {
        const shard = ownShard(key);
        if (!shard.has(key)) size += 1;
        shard.set(key, value);
      },
      delete: (key) => {
        if (!shards[shardOf(key)]?.has(key)) return;
        ownShard(key).delete(key);
        size -= 1;
      },
    });
    return own.size === 0 ? this : new ShardedMap(shards, size);
  }

  *entries(): Generator<[string, V]> {
    for (const shard of this.#shards) if (shard) yield* shard;
  }

  *values(): Generator<V> {
    for (const shard of this.#shards) if (shard) yield* shard.values();
  }
}

/** FNV-1a over the key's code units, folded to the number of shards. */
function shardOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return ((hash >>> 8) ^ hash) & (SHARDS - 1);
}
