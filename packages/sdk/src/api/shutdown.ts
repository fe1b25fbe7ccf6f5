import type { StoreApi } from "zustand/vanilla";
import type { ClientState } from "../core/state.ts";

/** The end of a client. Waiting operations listen for it, and unsubscribe when they are done. */
export interface Ending {
  /** Calls back when the client ends, or at once if it has ended. Returns a function that unsubscribes. */
  listen(then: (error: unknown) => void): () => void;
  /** Resolves like the promise, or rejects if the client ends first. */
  orEnd<T>(promise: Promise<T>): Promise<T>;
  end(error: unknown): void;
  readonly isOver: boolean;
  /** The number of listeners. */
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
    // `Promise.race` with a promise that lives as long as the client would keep every other promise in memory as long.
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
    get isOver() {
      return ended !== undefined;
    },
    get listening() {
      return listeners.size;
    },
  };
}

/** Resolves when the condition holds, and rejects if the client ends first. */
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
