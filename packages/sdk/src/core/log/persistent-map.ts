const BITS = 5;
const MASK = 2 ** BITS - 1;

/** Alternates keys and values. */
type Leaf<V> = readonly (string | V)[];
type Twig<V> = readonly (Leaf<V> | undefined)[];
type Branch<V> = readonly (Twig<V> | undefined)[];
type Root<V> = readonly (Branch<V> | undefined)[];

export interface PersistentMapDraft<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/**
 * An immutable map. Its entries lie in a tree of 32 × 32 × 32 short lists, by the hash of their keys. A change copies
 * one list and the path to it, about a hundred pointers; the previous map stays unchanged. With 10 000 entries, most
 * lists are empty or have one entry; with a million, a list has about thirty.
 */
export class PersistentMap<V> {
  readonly size: number;
  readonly #root: Root<V>;

  private constructor(root: Root<V>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>([], 0);
  }

  get(key: string): V | undefined {
    return valueIn(this.#root, key, hashOf(key));
  }

  has(key: string): boolean {
    return placeIn(leafAt(this.#root, hashOf(key)), key) >= 0;
  }

  set(key: string, value: V): PersistentMap<V> {
    return this.edit((draft) => draft.set(key, value));
  }

  /** Makes several changes and copies each node at most once. Returns the same map if nothing changed. */
  edit(change: (draft: PersistentMapDraft<V>) => void): PersistentMap<V> {
    const draft = new Draft(this.#root, this.size);
    change(draft);
    return draft.root === this.#root ? this : new PersistentMap(draft.root, draft.size);
  }

  /** A generator would allocate two objects for each entry: lists of many records are made by this. */
  each(visit: (value: V, key: string) => void): void {
    for (const branch of this.#root)
      for (const twig of branch ?? [])
        for (const leaf of twig ?? [])
          if (leaf) for (let at = 0; at < leaf.length; at += 2) visit(leaf[at + 1] as V, leaf[at] as string);
  }

  entries(): readonly [string, V][] {
    const all: [string, V][] = [];
    this.each((value, key) => all.push([key, value]));
    return all;
  }
}

class Draft<V> implements PersistentMapDraft<V> {
  root: Root<V>;
  size: number;
  /** Copies that were made for this draft, which may be changed in place. */
  readonly #own = new Set<unknown>();

  constructor(root: Root<V>, size: number) {
    this.root = root;
    this.size = size;
  }

  get(key: string): V | undefined {
    return valueIn(this.root, key, hashOf(key));
  }

  set(key: string, value: V): void {
    const leaf = this.#ownLeaf(hashOf(key));
    const place = placeIn(leaf, key);
    if (place >= 0) leaf[place + 1] = value;
    else {
      leaf.push(key, value);
      this.size += 1;
    }
  }

  delete(key: string): void {
    const hash = hashOf(key);
    const place = placeIn(leafAt(this.root, hash), key);
    if (place < 0) return;
    this.#ownLeaf(hash).splice(place, 2);
    this.size -= 1;
  }

  #ownLeaf(hash: number): (string | V)[] {
    const root = this.#owned(this.root);
    this.root = root;
    const branch = this.#owned(root[hash >>> (2 * BITS)]);
    root[hash >>> (2 * BITS)] = branch;
    const twig = this.#owned(branch[(hash >>> BITS) & MASK]);
    branch[(hash >>> BITS) & MASK] = twig;
    const leaf = this.#owned(twig[hash & MASK]);
    twig[hash & MASK] = leaf;
    return leaf;
  }

  #owned<T>(part: readonly T[] = []): T[] {
    if (this.#own.has(part)) return part as T[];
    const own = part.slice();
    this.#own.add(own);
    return own;
  }
}

const leafAt = <V>(root: Root<V>, hash: number): Leaf<V> | undefined =>
  root[hash >>> (2 * BITS)]?.[(hash >>> BITS) & MASK]?.[hash & MASK];

/** Index of a key in a list, or -1. Values may be strings too, so only even positions are compared. */
function placeIn<V>(leaf: Leaf<V> | undefined, key: string): number {
  if (leaf) for (let i = 0; i < leaf.length; i += 2) if (leaf[i] === key) return i;
  return -1;
}

function valueIn<V>(root: Root<V>, key: string, hash: number): V | undefined {
  const leaf = leafAt(root, hash);
  const place = placeIn(leaf, key);
  return place < 0 ? undefined : (leaf?.[place + 1] as V);
}

/** FNV-1a over the key's code units, folded to fifteen bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return ((hash >>> 17) ^ (hash >>> 8) ^ hash) & (2 ** (3 * BITS) - 1);
}
