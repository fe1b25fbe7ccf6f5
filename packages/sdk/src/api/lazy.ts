import type { Clock } from "../engine/ports.ts";
import type { Ending } from "./shutdown.ts";

/** A part of the client whose code is loaded on demand. */
export interface Lazy<T> {
  /** The part; undefined until it is loaded. */
  now(): T | undefined;
  /** Loads the part once. If that fails, the next call tries again. */
  load(): Promise<T>;
  /** Tries again what has failed, if there was a need for the part. */
  retry(): void;
  /** Attaches when the part is loaded, or at once if it is. Returns a function that detaches, or cancels that. */
  whenLoaded(attach: (part: T) => () => void): () => void;
  /** Calls once the part is loaded, unless it is already. Returns a function that cancels that. */
  onLoad(listener: () => void): () => void;
}

export function lazy<T>(open: () => Promise<T>): Lazy<T> {
  let part: T | undefined;
  let loading: Promise<T> | undefined;
  let isWanted = false;
  const waiting = new Set<(part: T) => void>();

  async function attempt(): Promise<T> {
    try {
      part = await open();
    } catch (error) {
      loading = undefined;
      throw error;
    }
    for (const attach of waiting) attach(part);
    waiting.clear();
    return part;
  }

  const load = () => {
    isWanted = true;
    loading ??= attempt();
    return loading;
  };

  return {
    now: () => part,
    load,
    retry: () => void (isWanted && load().catch(() => {})),
    whenLoaded(attach) {
      if (part !== undefined) return attach(part);
      let detach = () => {};
      const later = (made: T) => {
        detach = attach(made);
      };
      waiting.add(later);
      return () => {
        waiting.delete(later);
        detach();
      };
    },
    onLoad(listener) {
      if (part === undefined) waiting.add(listener);
      return () => waiting.delete(listener);
    },
  };
}

/** Loads the part and attaches to it. Returns a function that detaches, or cancels that. */
export function use<T>(part: Lazy<T>, attach: (part: T) => () => void): () => void {
  const detach = part.whenLoaded(attach);
  void part.load().catch(() => {});
  return detach;
}

/** Repeats the attempt at intervals until it succeeds, or until the client ends. */
export async function untilLoaded<T>(
  attempt: () => Promise<T>,
  failed: (error: unknown) => void,
  { clock, everyMs, ending }: { clock: Clock; everyMs: number; ending: Ending },
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      failed(error);
    }
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.wait(everyMs, () => {
        off();
        resolve();
      });
      const off = ending.listen((error) => {
        cancel();
        reject(error);
      });
    });
  }
}
