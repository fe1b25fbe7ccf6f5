import { setMaxListeners } from "node:events";
import type { DueEndpoint, StopSignals } from "../flows/webhooks/deliver.ts";
import type { Worker } from "./pruner.ts";

export interface DelivererOptions {
  /** Tenants with enabled endpoints, and how many. */
  told(): Promise<ReadonlyMap<number, number>>;
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
const NO_PLACE_MS = 200;
/** How long a stop waits for responses. */
const PATIENCE_MS = 3_000;

/** A delivery in progress. */
interface Run {
  readonly tenant: number;
  /** When it was begun or last got a response. */
  heardAt: number;
  done: Promise<void>;
}

export function startDeliverer({ told: readTold, behind, deliver, failed }: DelivererOptions): Deliverer {
  const running = new Map<string, Run>();
  /** Deliveries in progress by tenant. */
  const runningIn = new Map<number, number>();
  /** Tenants whose log has grown during a delivery. */
  const missed = new Set<number>();
  const stopping = new AbortController();
  const over = new AbortController();
  setMaxListeners(MOST_OPEN + 1, over.signal);
  const ending = { begun: stopping.signal, over: over.signal };
  let told: ReadonlyMap<number, number> = new Map();
  let woken = new Set<number>();
  let pollAt = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let looking: Promise<void> | undefined;

  function soon(inMs: number): void {
    const ms = Math.max(inMs, TIMER_MS, lookedAt + APART_MS - performance.now());
    const at = performance.now() + ms;
    if (stopping.signal.aborted || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Number.POSITIVE_INFINITY;
      // A search is in progress: run another one after it.
      if (!looking) looking = look().finally(() => (looking = undefined));
      else soon(TOGETHER_MS);
    }, ms).unref();
  }

  async function look(): Promise<void> {
    lookedAt = performance.now();
    try {
      const polls = performance.now() >= pollAt - TIMER_MS;
      if (polls) {
        pollAt = performance.now() + POLL_MS;
        told = await readTold();
      }
      const asked = polls ? [...new Set([...told.keys(), ...woken])] : [...woken].filter(hasSomebodyIdle);
      woken = new Set();
      if (asked.length > 0)
        for (const due of inOrder(await behind(asked)))
          if (due.inMs > 0) pollIn(due.inMs);
          else begin(due);
    } catch (error) {
      failed(error);
    }
    soon(pollAt - performance.now());
  }

  /** Whether an endpoint has no delivery in progress. The others find further entries by themselves. */
  function hasSomebodyIdle(tenant: number): boolean {
    const isIdle = (runningIn.get(tenant) ?? 0) < (told.get(tenant) ?? Number.POSITIVE_INFINITY);
    if (!isIdle) missed.add(tenant);
    return isIdle;
  }

  /** Something is due before the next poll, so poll earlier. */
  function pollIn(ms: number): void {
    pollAt = Math.min(pollAt, performance.now() + ms);
    soon(pollAt - performance.now());
  }

  /** If slots are scarce, tenants with the fewest deliveries in progress come first. */
  const inOrder = (found: readonly DueEndpoint[]): DueEndpoint[] => {
    const before = new Map<number, number>();
    const places = found.map((due) => {
      const place = before.get(due.tenant) ?? runningIn.get(due.tenant) ?? 0;
      before.set(due.tenant, place + 1);
      return { due, place };
    });
    return places.sort((a, b) => a.place - b.place).map(({ due }) => due);
  };

  /** A hanging delivery frees its slot, up to a limit per tenant. */
  function hasPlace(tenant: number): boolean {
    const since = performance.now() - HANGS_MS;
    let [busy, hanging] = [0, 0];
    for (const run of running.values())
      if (run.heardAt > since) busy += 1;
      else if (run.tenant === tenant) hanging += 1;
    return busy < MOST_AT_ONCE && running.size < MOST_OPEN && hanging < MOST_HANGING_OF_TENANT;
  }

  function begin({ key, tenant, what }: DueEndpoint): void {
    if (stopping.signal.aborted) return;
    if (running.has(key)) return void missed.add(tenant);
    if (!hasPlace(tenant)) {
      woken.add(tenant);
      return soon(NO_PLACE_MS);
    }
    const run: Run = { tenant, heardAt: performance.now(), done: Promise.resolve() };
    const progressed = () => {
      run.heardAt = performance.now();
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
    if (isNew) told = new Map([...told, [tenant, Number.POSITIVE_INFINITY]]);
    if (!told.has(tenant)) return;
    woken.add(tenant);
    soon(TOGETHER_MS);
  }

  soon(0);
  return {
    wake,
    async stop() {
      clearTimeout(timer);
      stopping.abort();
      const patience = setTimeout(() => over.abort(), PATIENCE_MS).unref();
      await looking;
      await Promise.all([...running.values()].map(({ done }) => done));
      clearTimeout(patience);
    },
  };
}
