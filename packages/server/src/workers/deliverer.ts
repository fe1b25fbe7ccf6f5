import { setMaxListeners } from "node:events";
import type { DueEndpoint, Ending } from "../flows/webhooks/deliver.ts";
import type { Worker } from "./pruner.ts";

export interface DelivererOptions {
  /** Tenants that somebody is told of, with how many are told. */
  told(): Promise<ReadonlyMap<number, number>>;
  /** Who of these tenants is behind. */
  behind(tenants: readonly number[]): Promise<readonly DueEndpoint[]>;
  /** Answers in how many milliseconds it goes on, where that is known. */
  deliver(reading: DueEndpoint["what"], ending: Ending, progressed: () => void): Promise<number | undefined>;
  failed(error: unknown): void;
}

/** Tells endpoints of the log: at once when it has grown, and again when they are due. */
export interface Deliverer extends Worker {
  /** A tenant's log has grown, or its endpoints changed. */
  wake(tenant: number, isNew?: boolean): void;
}

/** What is committed at nearly the same time is told together: the first at once, and what comes behind it in fuller batches. */
const TOGETHER_MS = 2;
const APART_MS = 20;
/** The truth behind the wakes: whoever is behind is found that soon. */
const POLL_MS = 1_000;
/** A timer may be so much too early. */
const TIMER_MS = 2;
/** Endpoints that are being told in this process. One that hangs takes no place of these, and waits longer and longer for its next request. */
const MOST_AT_ONCE = 200;
/** Without an answer for so long, an endpoint hangs. */
const HANGS_MS = 400;
/** With those that hang. */
const MOST_OPEN = 1_000;
/** Of one tenant, of those that hang: the others of its endpoints wait. */
const MOST_HANGING_OF_TENANT = 10;
/** Who found no place looks again so soon. */
const NO_PLACE_MS = 200;
/** How long a stop waits for answers. */
const PATIENCE_MS = 3_000;

/** An endpoint that is being told. */
interface Run {
  readonly tenant: number;
  /** When it was begun, or an answer came last. */
  heardAt: number;
  done: Promise<void>;
}

export function startDeliverer({ told: readTold, behind, deliver, failed }: DelivererOptions): Deliverer {
  const running = new Map<string, Run>();
  /** How many are being told, by tenant. */
  const runningIn = new Map<number, number>();
  /** Tenants whose log grew while somebody was being told of it. */
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
      // Whoever looks now looks again when it is done.
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

  /** Those that are being told look for themselves whether there is more. */
  function hasSomebodyIdle(tenant: number): boolean {
    const isIdle = (runningIn.get(tenant) ?? 0) < (told.get(tenant) ?? Number.POSITIVE_INFINITY);
    if (!isIdle) missed.add(tenant);
    return isIdle;
  }

  /** Something is due before the next poll: that one comes earlier. */
  function pollIn(ms: number): void {
    pollAt = Math.min(pollAt, performance.now() + ms);
    soon(pollAt - performance.now());
  }

  /** Where places are few, tenants of which least is being told come first. */
  const inOrder = (found: readonly DueEndpoint[]): DueEndpoint[] => {
    const before = new Map<number, number>();
    const places = found.map((due) => {
      const place = before.get(due.tenant) ?? runningIn.get(due.tenant) ?? 0;
      before.set(due.tenant, place + 1);
      return { due, place };
    });
    return places.sort((a, b) => a.place - b.place).map(({ due }) => due);
  };

  /** One that hangs is no longer counted among those that are being told, up to a number of each tenant. */
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
    // Of new ones we do not know how many there are: the next poll does.
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
