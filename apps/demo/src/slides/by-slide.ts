import { useCallback, useLayoutEffect, useState, useSyncExternalStore } from "react";

/** What is known of each slide. Each card follows its own: of two hundred, the one renders for which it has changed. */
export interface BySlide<T> {
  get(id: string): T | undefined;
  follow(id: string, listener: () => void): () => void;
}

/** The same object from render to render, with the values of the last one. */
export function useBySlide<T>(values: ReadonlyMap<string, T>): BySlide<T> {
  const [all] = useState(() => createBySlide(values));
  useLayoutEffect(() => all.show(values), [all, values]);
  return all;
}

/** What is known of one slide. */
export function useOfSlide<T>(all: BySlide<T>, id: string): T | undefined {
  const follow = useCallback((listener: () => void) => all.follow(id, listener), [all, id]);
  const get = useCallback(() => all.get(id), [all, id]);
  return useSyncExternalStore(follow, get, get);
}

interface Shown<T> extends BySlide<T> {
  show(next: ReadonlyMap<string, T>): void;
}

export function createBySlide<T>(first: ReadonlyMap<string, T>): Shown<T> {
  let values = first;
  const listeners = new Map<string, Set<() => void>>();
  return {
    get: (id) => values.get(id),
    follow(id, listener) {
      const own = listeners.get(id) ?? new Set();
      listeners.set(id, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0) listeners.delete(id);
      };
    },
    show(next) {
      const before = values;
      values = next;
      for (const id of new Set([...before.keys(), ...next.keys()]))
        if (before.get(id) !== next.get(id)) for (const listener of listeners.get(id) ?? []) listener();
    },
  };
}
