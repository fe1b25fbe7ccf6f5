const WIDTH = 32;
type Leaf<V> = ReadonlyMap<string, V>;
type Branch<V> = readonly (Leaf<V> | undefined)[];
type Branches<V> = readonly (Branch<V> | undefined)[];

export interface MapDraft<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/**
 * A map that is never changed in place. Its entries lie in 32 × 32 small maps by the hash of their keys: a change
 * copies one of them and the way to it, about ten entries and 64 pointers among 10 000, and the map before it stays
 * as it was.
 */
export class ShardedMap<V> {
  readonly size: number;
  readonly #branches: Branches<V>;

  private constructor(branches: Branches<V>, size: number) {
    this.#branches = branches;
    this.size = size;
  }

  static empty<V>(): ShardedMap<V> {
    return new ShardedMap<V>([], 0);
  }

  get(key: string): V | undefined {
    const hash = hashOf(key);
    return leafAt(this.#branches, hash)?.get(key);
  }

  has(key: string): boolean {
    return leafAt(this.#branches, hashOf(key))?.has(key) ?? false;
  }

  set(key: string, value: V): ShardedMap<V> {
    return this.edit((draft) => draft.set(key, value));
  }

  /** Several changes at once; nothing is copied twice. Without a change the same map returns. */
  edit(change: (draft: MapDraft<V>) => void): ShardedMap<V> {
    const draft = new Draft(this.#branches, this.size);
    change(draft);
    return draft.branches === this.#branches ? this : new ShardedMap(draft.branches, draft.size);
  }

  *entries(): Generator<[string, V]> {
    for (const branch of this.#branches) for (const leaf of branch ?? []) if (leaf) yield* leaf;
  }

  *values(): Generator<V> {
    for (const branch of this.#branches) for (const leaf of branch ?? []) if (leaf) yield* leaf.values();
  }
}

class Draft<V> implements MapDraft<V> {
  branches: Branches<V>;
  size: number;
  /** Copies made for this draft: these may be changed. */
  readonly #own = new Set<unknown>();

  constructor(branches: Branches<V>, size: number) {
    this.branches = branches;
    this.size = size;
  }

  get(key: string): V | undefined {
    return leafAt(this.branches, hashOf(key))?.get(key);
  }

  set(key: string, value: V): void {
    const leaf = this.#ownLeaf(hashOf(key));
    if (!leaf.has(key)) this.size += 1;
    leaf.set(key, value);
  }

  delete(key: string): void {
    const hash = hashOf(key);
    if (!leafAt(this.branches, hash)?.has(key)) return;
    this.#ownLeaf(hash).delete(key);
    this.size -= 1;
  }

  #ownLeaf(hash: number): Map<string, V> {
    const branches = this.#owned(this.branches, () => this.branches.slice()) as (Branch<V> | undefined)[];
    this.branches = branches;
    const at = hash >>> 5;
    const branch = this.#owned(branches[at], () => (branches[at] ?? []).slice()) as (Leaf<V> | undefined)[];
    branches[at] = branch;
    const leaf = this.#owned(branch[hash % WIDTH], () => new Map(branch[hash % WIDTH])) as Map<string, V>;
    branch[hash % WIDTH] = leaf;
    return leaf;
  }

  #owned<T>(part: T | undefined, copy: () => T): T {
    if (part !== undefined && this.#own.has(part)) return part;
    const own = copy();
    this.#own.add(own);
    return own;
  }
}

const leafAt = <V>(branches: Branches<V>, hash: number): Leaf<V> | undefined => branches[hash >>> 5]?.[hash % WIDTH];

/** FNV-1a over the key's code units, folded to ten bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return ((hash >>> 20) ^ (hash >>> 10) ^ hash) & (WIDTH * WIDTH - 1);
}
