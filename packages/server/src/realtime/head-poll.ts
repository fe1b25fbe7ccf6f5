import type { PolledHead } from "../flows/follow-log.ts";

/**
 * The truth behind the hints: asks for the heads of all worlds that this process listens to, with one statement an
 * interval, whatever number of hints were lost.
 */
export interface HeadPoll {
  /** Returns what ends it. */
  watch(world: number, heard: (head: PolledHead) => void): () => void;
  /** Hints may have been lost: asks for all heads, now. */
  askAll(): void;
  close(): void;
}

const POLL_MS = 1_000;
/** In one statement. Where a process listens to more worlds than that, each is asked for every second time, or less often. */
const MOST_WORLDS = 2_000;

export function createHeadPoll(
  read: (worlds: readonly number[]) => Promise<ReadonlyMap<number, PolledHead>>,
  failed: (error: unknown) => void,
): HeadPoll {
  const watchers = new Map<number, Set<(head: PolledHead) => void>>();
  /** The worlds that were not asked for yet since all of them were. */
  let rest: number[] = [];
  let isAsking = false;
  const timer = setInterval(() => void poll().catch(failed), POLL_MS).unref();

  async function poll(): Promise<void> {
    if (isAsking || watchers.size === 0) return;
    isAsking = true;
    try {
      if (rest.length === 0) rest = [...watchers.keys()];
      await ask(rest.splice(0, MOST_WORLDS));
    } finally {
      isAsking = false;
    }
  }

  async function ask(worlds: readonly number[]): Promise<void> {
    for (const [world, head] of await read(worlds)) for (const heard of watchers.get(world) ?? []) heard(head);
  }

  async function askAll(): Promise<void> {
    const worlds = [...watchers.keys()];
    for (let from = 0; from < worlds.length; from += MOST_WORLDS) await ask(worlds.slice(from, from + MOST_WORLDS));
  }

  return {
    watch(world, heard) {
      const own = watchers.get(world) ?? new Set();
      watchers.set(world, own.add(heard));
      return () => {
        own.delete(heard);
        if (own.size === 0 && watchers.get(world) === own) watchers.delete(world);
      };
    },
    askAll: () => void askAll().catch(failed),
    close: () => clearInterval(timer),
  };
}
