import type { Database } from "../../connection/pool.ts";
import { addUsage, type UsageCount } from "../db/usage.ts";
import { dayOf } from "../rules/usage-period.ts";

export type UsageEvent = "commits" | "operations" | "reads" | "webhook_deliveries";

/** Counts in memory, so that no request waits for the database. `flush` writes the counts in batches. */
export interface UsageCounter {
  add(tenant: number, eventName: UsageEvent, count?: number): void;
  /** Totals since the process started, over all tenants. */
  readonly totals: Readonly<Record<UsageEvent, number>>;
  /** Writes the counts so far. Counts that could not be written are kept for the next call. */
  flush(): Promise<void>;
}

/** Rows per statement. A tenant has one row per event and day. */
const CHUNK = 1_000;

export function createUsageCounter(db: Database, now: () => number): UsageCounter {
  const totals = { commits: 0, operations: 0, reads: 0, webhook_deliveries: 0 };
  let counted = new Map<string, UsageCount>();
  let flushing = Promise.resolve();
  // The current day, cached because every count needs it.
  let today = { day: "", until: 0 };

  function dayNow(): string {
    const at = now();
    if (at >= today.until || at < today.until - DAY_MS)
      today = { day: dayOf(at), until: (Math.floor(at / DAY_MS) + 1) * DAY_MS };
    return today.day;
  }

  function put({ tenant, day, eventName, count }: UsageCount): void {
    const key = `${tenant} ${day} ${eventName}`;
    counted.set(key, { tenant, day, eventName, count: count + (counted.get(key)?.count ?? 0) });
  }

  async function write(): Promise<void> {
    const taken = [...counted.values()];
    counted = new Map();
    for (let done = 0; done < taken.length; done += CHUNK)
      try {
        await addUsage(db, taken.slice(done, done + CHUNK));
      } catch (error) {
        for (const count of taken.slice(done)) put(count);
        throw error;
      }
  }

  return {
    totals,
    add(tenant, eventName, count = 1) {
      totals[eventName] += count;
      put({ tenant, day: dayNow(), eventName, count });
    },
    flush: () => {
      const next = flushing.then(write);
      flushing = next.catch(() => {});
      return next;
    },
  };
}

const DAY_MS = 86_400_000;
