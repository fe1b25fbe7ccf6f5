/** SeededRandom from a seed: the same seed makes the same choices on every machine. (mulberry32) */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Choices of their own for one part of a run: taking that part out leaves those of all others as they are. */
  static of(seed: number, part: number): SeededRandom {
    return new SeededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(part + 1, 0xc2b2ae35));
  }

  /** From 0 up to, not including, 1. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.roll() * limit);
  }

  /** True `n` times out of 100. */
  percent(n: number): boolean {
    return this.roll() * 100 < n;
  }

  /** Undefined where there is nothing to pick from. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  /** A random item of a non-empty list. */
  oneOf<T>(items: readonly T[]): T {
    const item = this.pick(items);
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  }

  /** One of the named, as often as their weights say. */
  weighed<T extends string>(weights: Readonly<Record<T, number>>): T {
    const names = Object.keys(weights) as T[];
    let left = this.roll() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return names[names.length - 1] as T;
  }
}
