/** Where a thing is kept: in a box on a shelf, under a label. */
export type Place = readonly [shelf: string, box: string, label: unknown];

/** Keeps any number of things at any number of places. What is empty takes no memory. */
export interface Shelves<Thing extends object> {
  add(place: Place, thing: Thing): void;
  remove(place: Place, thing: Thing): void;
  has(shelf: string): boolean;
  /** The boxes of a shelf that are not empty. */
  boxes(shelf: string): Iterable<string>;
  /** Adds what is at a place to a set. */
  collect(place: Place, into: Set<Thing>): void;
}

/** Most places have one thing: it is kept without a set. */
type Kept<Thing> = Thing | Set<Thing>;

export function createShelves<Thing extends object>(): Shelves<Thing> {
  const shelves = new Map<string, Map<string, Map<unknown, Kept<Thing>>>>();

  return {
    add([shelf, box, label], thing) {
      const boxes = within(shelves, shelf);
      const labels = within(boxes, box);
      const kept = labels.get(label);
      if (kept instanceof Set) kept.add(thing);
      else labels.set(label, kept === undefined || kept === thing ? thing : new Set([kept, thing]));
    },
    remove([shelf, box, label], thing) {
      const boxes = shelves.get(shelf);
      const labels = boxes?.get(box);
      const kept = labels?.get(label);
      if (!boxes || !labels || kept === undefined) return;
      if (kept instanceof Set) kept.delete(thing);
      if (kept instanceof Set ? kept.size === 0 : kept === thing) labels.delete(label);
      if (labels.size === 0) boxes.delete(box);
      if (boxes.size === 0) shelves.delete(shelf);
    },
    has: (shelf) => shelves.has(shelf),
    boxes: (shelf) => shelves.get(shelf)?.keys() ?? [],
    collect([shelf, box, label], into) {
      const kept = shelves.get(shelf)?.get(box)?.get(label);
      if (kept instanceof Set) for (const thing of kept) into.add(thing);
      else if (kept !== undefined) into.add(kept);
    },
  };
}

function within<Key, Inner, Value>(maps: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  let known = maps.get(key);
  if (!known) {
    known = new Map();
    maps.set(key, known);
  }
  return known;
}
