import { setMaxListeners } from "node:events";
import type { Worker } from "../../kernel/workers/worker.ts";
import type { DueEndpoint, StopSignals } from "./flows/deliver.ts";

export interface DelivererOptions {
  /** Tenants with enabled endpoints, and how many. */
  endpointCounts(): Promise<ReadonlyMap<number, number>>;
  /** The endpoints of these tenants with undelivered entries. */
  behind(tenants: readonly number[]): Promise<readonly DueEndpoint[]>;
  /** Delivers what is due now. Returns the milliseconds until the next attempt, if known. */
  deliver(reading: DueEndpoint["what"], ending: StopSignals, progressed: () => void): Promise<number | undefined>;
  failed(error: unknown): void;
}

/** Starts deliveries: at once when a log has grown, and again when a retry is due. */
export interface Deliverer extends Worker {
  /** A tenant's log has grown, or its endpoints have changed. */
  wake(tenant: number, isNew?: boolean): void;
}

/** The first commit is delivered at once. Commits shortly after it are collected into fuller batches. */
const TOGETHER_MS = 2;
const APART_MS = 20;
/** The safety net behind wake calls: every endpoint with undelivered entries is found within this time. */
const POLL_MS = 1_000;
/** A timer may fire this much too early. */
const TIMER_MS = 2;
/**
 * Most concurrent deliveries in this process. Hanging ones do not count, and their endpoints are retried less and less
 * often.
 */
const MOST_AT_ONCE = 200;
/** A delivery without a response for this long counts as hanging. */
const HANGS_MS = 400;
/** Most concurrent deliveries, including hanging ones. */
const MOST_OPEN = 1_000;
/** Most hanging deliveries of one tenant. Beyond it, the tenant's other endpoints wait. */
const MOST_HANGING_OF_TENANT = 10;
/** When to retry if no slot was free. */
const NO_SLOT_MS = 200;
/** How long a stop waits for responses. */
const STOP_MS = 3_000;

/** A delivery in progress. */
interface Run {
  readonly tenant: number;
  /** When it was begun or last got a response. */
  lastResponseAt: number;
  done: Promise<void>;
}

export function startDeliverer({ endpointCounts, behind, deliver, failed }: DelivererOptions): Deliverer {
  const running = new Map<string, Run>();
  /** Deliveries in progress by tenant. */
  const runningIn = new Map<number, number>();
  /** Tenants whose log has grown during a delivery. */
  const missed = new Set<number>();
  const stopping = new AbortController();
  const over = new AbortController();
  setMaxListeners(MOST_OPEN + 1, over.signal);
  const ending = { begun: stopping.signal, over: over.signal };
  let counts: ReadonlyMap<number, number> = new Map();
  let woken = new Set<number>();
  let pollAt = 0;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let searching: Promise<void> | undefined;

  function schedule(inMs: number): void {
    const ms = Math.max(inMs, TIMER_MS, searchedAt + APART_MS - performance.now());
    const at = performance.now() + ms;
    if (stopping.signal.aborted || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Number.POSITIVE_INFINITY;
      // A search is in progress: run another one after it.
      if (!searching) searching = search().finally(() => (searching = undefined));
      else schedule(TOGETHER_MS);
    }, ms).unref();
  }

  async function search(): Promise<void> {
    searchedAt = performance.now();
    try {
      const polls = performance.now() >= pollAt - TIMER_MS;
      if (polls) {
        pollAt = performance.now() + POLL_MS;
        counts = await endpointCounts();
      }
      const tenants = polls ? [...new Set([...counts.keys(), ...woken])] : [...woken].filter(hasIdleEndpoint);
      woken = new Set();
      if (tenants.length > 0)
        for (const due of inOrder(await behind(tenants)))
          if (due.inMs > 0) pollIn(due.inMs);
          else begin(due);
    } catch (error) {
      failed(error);
    }
    schedule(pollAt - performance.now());
  }

  /** Whether an endpoint has no delivery in progress. The others find further entries by themselves. */
  function hasIdleEndpoint(tenant: number): boolean {
    const isIdle = (runningIn.get(tenant) ?? 0) < (counts.get(tenant) ?? Number.POSITIVE_INFINITY);
    if (!isIdle) missed.add(tenant);
    return isIdle;
  }

  /** Something is due before the next poll, so poll earlier. */
  function pollIn(ms: number): void {
    pollAt = Math.min(pollAt, performance.now() + ms);
    schedule(pollAt - performance.now());
  }

  /** If slots are scarce, tenants with the fewest deliveries in progress come first. */
  const inOrder = (found: readonly DueEndpoint[]): DueEndpoint[] => {
    const before = new Map<number, number>();
    const slots = found.map((due) => {
      const slot = before.get(due.tenant) ?? runningIn.get(due.tenant) ?? 0;
      before.set(due.tenant, slot + 1);
      return { due, slot };
    });
    return slots.sort((a, b) => a.slot - b.slot).map(({ due }) => due);
  };

  /** A hanging delivery frees its slot, up to a limit per tenant. */
  function hasFreeSlot(tenant: number): boolean {
    const since = performance.now() - HANGS_MS;
    let [busy, hanging] = [0, 0];
    for (const run of running.values())
      if (run.lastResponseAt > since) busy += 1;
      else if (run.tenant === tenant) hanging += 1;
    return busy < MOST_AT_ONCE && running.size < MOST_OPEN && hanging < MOST_HANGING_OF_TENANT;
  }

  function begin({ key, tenant, what }: DueEndpoint): void {
    if (stopping.signal.aborted) return;
    if (running.has(key)) return void missed.add(tenant);
    if (!hasFreeSlot(tenant)) {
      woken.add(tenant);
      return schedule(NO_SLOT_MS);
    }
    const run: Run = { tenant, lastResponseAt: performance.now(), done: Promise.resolve() };
    const progressed = () => {
      run.lastResponseAt = performance.now();
    };
    run.done = deliver(what, ending, progressed)
      .then((inMs) => {
        if (inMs !== undefined) pollIn(inMs);
      }, failed)
      .finally(() => {
        running.delete(key);
        count(tenant, -1);
        if (missed.delete(tenant)) wake(tenant);
      });
    count(tenant, 1);
    running.set(key, run);
  }

  function count(tenant: number, change: 1 | -1): void {
    const now = (runningIn.get(tenant) ?? 0) + change;
    if (now === 0) runningIn.delete(tenant);
    else runningIn.set(tenant, now);
  }

  function wake(tenant: number, isNew = false): void {
    // The number of new endpoints is unknown until the next poll.
    if (isNew) counts = new Map([...counts, [tenant, Number.POSITIVE_INFINITY]]);
    if (!counts.has(tenant)) return;
    woken.add(tenant);
    schedule(TOGETHER_MS);
  }

  schedule(0);
  return {
    wake,
    async stop() {
      clearTimeout(timer);
      stopping.abort();
      const deadline = setTimeout(() => over.abort(), STOP_MS).unref();
      await searching;
      await Promise.all([...running.values()].map(({ done }) => done));
      clearTimeout(deadline);
    },
  };
}
