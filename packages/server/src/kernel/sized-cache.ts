import { LRUCache } from "lru-cache";

/** How well a cache serves, and what it costs. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
  /** An estimate. */
  readonly bytes: number;
}

/** A least-recently-used cache bounded in bytes, with hit and miss counts. */
export interface SizedCache<K, V> extends CacheUse {
  get(key: K): V | undefined;
  /** Does not count, and does not mark the entry as used. */
  peek(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  clear(): void;
  readonly size: number;
}

/** `bytesOf`: the approximate memory of a value. */
export function createSizedCache<K extends string | number, V extends object>(
  maxBytes: number,
  bytesOf: (value: V, key: K) => number,
): SizedCache<K, V> {
  const cache = new LRUCache<K, V>({
    maxSize: maxBytes,
    sizeCalculation: (value, key) => Math.max(1, Math.ceil(bytesOf(value, key))),
  });
  let [hits, misses] = [0, 0];
  return {
    get(key) {
      const value = cache.get(key);
      if (value === undefined) misses += 1;
      else hits += 1;
      return value;
    },
    peek: (key) => cache.peek(key),
    set: (key, value) => void cache.set(key, value),
    delete: (key) => void cache.delete(key),
    clear: () => cache.clear(),
    get hits() {
      return hits;
    },
    get misses() {
      return misses;
    },
    get size() {
      return cache.size;
    },
    get bytes() {
      return cache.calculatedSize;
    },
  };
}
