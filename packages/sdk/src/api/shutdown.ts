import type { StoreApi } from "zustand/vanilla";
import type { ClientState } from "../core/state.ts";

/** The end of a client. Those who wait for something listen for it, and stop when they have what they waited for. */
export interface Ending {
  /** Calls back when the client ends, at once if it has; the function that is given back calls it off. */
  listen(then: (error: unknown) => void): () => void;
  /** The same as a promise, or its rejection when the client ends first. */
  orEnd<T>(promise: Promise<T>): Promise<T>;
  end(error: unknown): void;
  /** How many listen. */
  readonly listening: number;
}

export function createEnding(): Ending {
  const listeners = new Set<(error: unknown) => void>();
  let ended: { readonly error: unknown } | undefined;

  function listen(then: (error: unknown) => void): () => void {
    if (ended) then(ended.error);
    else listeners.add(then);
    return () => void listeners.delete(then);
  }

  return {
    listen,
    // A race with one promise that lasts as long as the client would keep every other one as long.
    orEnd: (promise) =>
      new Promise((resolve, reject) => {
        const off = listen(reject);
        promise.then(resolve, reject).finally(off);
      }),
    end(error) {
      ended ??= { error };
      for (const then of listeners) then(error);
      listeners.clear();
    },
    get listening() {
      return listeners.size;
    },
  };
}

/** Resolves when it is so, and rejects when the client ends before. */
export function until(
  store: StoreApi<ClientState>,
  ending: Ending,
  isSo: (state: ClientState) => boolean,
): Promise<void> {
  if (isSo(store.getState())) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const stop = () => {
      off();
      offEnd();
    };
    const off = store.subscribe((state) => {
      if (!isSo(state)) return;
      stop();
      resolve();
    });
    const offEnd = ending.listen((error) => {
      off();
      reject(error);
    });
  });
}
