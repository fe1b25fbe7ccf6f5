import type { PolledHead } from "../log/flows/follow-log.ts";

/**
 * The safety net behind notifications: reads the heads of all followed tenants once per interval, with one statement.
 * So new entries are found even if every notification was lost.
 */
export interface HeadPoll {
  /** Returns a function that stops watching. */
  watch(tenant: number, onHead: (head: PolledHead) => void): () => void;
  /** Reads all heads now, because notifications may have been lost. */
  askAll(): void;
  close(): void;
}

const POLL_MS = 1_000;
/** Most tenants per statement. With more followed tenants, each is read every second time, or less often. */
const MOST_TENANTS = 2_000;

export function createHeadPoll(
  read: (tenants: readonly number[]) => Promise<ReadonlyMap<number, PolledHead>>,
  failed: (error: unknown) => void,
): HeadPoll {
  const watchers = new Map<number, Set<(head: PolledHead) => void>>();
  /** The tenants that the current cycle has not read yet. */
  let rest: number[] = [];
  let isAsking = false;
  const timer = setInterval(() => void poll().catch(failed), POLL_MS).unref();

  async function poll(): Promise<void> {
    if (isAsking || watchers.size === 0) return;
    isAsking = true;
    try {
      if (rest.length === 0) rest = [...watchers.keys()];
      await ask(rest.splice(0, MOST_TENANTS));
    } finally {
      isAsking = false;
    }
  }

  async function ask(tenants: readonly number[]): Promise<void> {
    for (const [tenant, head] of await read(tenants)) for (const onHead of watchers.get(tenant) ?? []) onHead(head);
  }

  async function askAll(): Promise<void> {
    const tenants = [...watchers.keys()];
    for (let from = 0; from < tenants.length; from += MOST_TENANTS) await ask(tenants.slice(from, from + MOST_TENANTS));
  }

  return {
    watch(tenant, onHead) {
      const own = watchers.get(tenant) ?? new Set();
      watchers.set(tenant, own.add(onHead));
      return () => {
        own.delete(onHead);
        if (own.size === 0 && watchers.get(tenant) === own) watchers.delete(tenant);
      };
    },
    askAll: () => void askAll().catch(failed),
    close: () => clearInterval(timer),
  };
}
