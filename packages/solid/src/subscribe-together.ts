import { batch } from "solid-js";
import type { AnyClient } from "./sync-provider.ts";

const known = new WeakMap<AnyClient, AnyClient["subscribe"]>();

/**
 * Subscribes to a client, in one subscription and one batch for all. Solid runs effects as soon as a signal is set: one
 * that reads two lists would otherwise run between their changes, and see the new state of one and the old of the other.
 */
export function subscribeTogether(client: AnyClient): AnyClient["subscribe"] {
  const found = known.get(client) ?? makeSubscribe(client);
  known.set(client, found);
  return found;
}

function makeSubscribe(client: AnyClient): AnyClient["subscribe"] {
  const listeners = new Set<() => void>();
  const notifyAll = () =>
    batch(() => {
      for (const listener of [...listeners]) listener();
    });
  let unsubscribe = () => {};
  return (listener) => {
    if (listeners.size === 0) unsubscribe = client.subscribe(notifyAll);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) unsubscribe();
    };
  };
}
