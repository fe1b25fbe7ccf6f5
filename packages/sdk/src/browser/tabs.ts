import type { TabMessage } from "../core/tab-message.ts";
import type { Clock, Tabs } from "../engine/ports.ts";

/** A client that is alone with its store: it sends from the start and has nobody to tell. */
export function alone(): Tabs {
  let lead = () => {};
  return {
    start: (listener) => {
      lead = listener.lead;
    },
    stand: (wanted) => void (wanted && lead()),
    post: () => {},
    close: () => {},
  };
}

/** A tab that follows asks so often whether the one that leads is there, and waits so long for its answer. */
const ASK_MS = 3_000;
const ANSWER_MS = 3_000;

/** `call`: is anybody leading? `here`: I am. The rest is for the clients themselves. */
type Call = { readonly type: "call" } | { readonly type: "here" };

/**
 * The tabs of one browser profile share a store. The one that holds the lock leads; the browser gives the lock to the
 * next when that tab goes. A tab that is frozen keeps its lock and does nothing: whoever asks and gets no answer takes
 * the lock from it. Timers of tabs in the background may be late, answers to messages are not, so it is the
 * one who asks that measures time.
 */
export function browserTabs(store: string, clock: Clock): Tabs {
  const name = `holdfast:${store}`;
  if (typeof navigator === "undefined" || !navigator.locks || typeof BroadcastChannel === "undefined") return alone();
  const channel = new BroadcastChannel(name);
  let listener: Parameters<Tabs["start"]>[0] | undefined;
  /** One stay in the line, from `stand` to the end of the lead or of the wish for it. */
  let stay: { leads: boolean; readonly leave: AbortController; release(): void } | undefined;
  let heardAt = clock.monotonic();
  let calledOff = () => {};

  function enter(how: "wait" | "steal"): void {
    leave();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const own = { leads: false, leave: new AbortController(), release };
    stay = own;
    const options = how === "steal" ? { steal: true } : { signal: own.leave.signal };
    navigator.locks
      .request(name, options, () => {
        if (stay !== own) return undefined;
        own.leads = true;
        calledOff();
        listener?.lead();
        return held;
      })
      // Called off while it waited, or taken away by another tab.
      .catch(() => {
        if (stay !== own || !own.leads) return;
        stay = undefined;
        listener?.deposed();
      });
    if (how === "wait") watch();
  }

  function leave(): void {
    calledOff();
    const own = stay;
    stay = undefined;
    if (!own) return;
    if (own.leads) own.release();
    else own.leave.abort();
  }

  /** Asks again and again, as long as this tab waits in the line. */
  function watch(): void {
    const own = stay;
    const then = (ms: number, what: () => void) => {
      calledOff();
      calledOff = clock.wait(ms, () => stay === own && what());
    };
    heardAt = clock.monotonic();
    const ask = () => {
      const askedAt = clock.monotonic();
      channel.postMessage({ type: "call" } satisfies Call);
      then(ANSWER_MS, () => (heardAt >= askedAt ? then(ASK_MS, ask) : enter("steal")));
    };
    then(ASK_MS, ask);
  }

  return {
    start(given) {
      listener = given;
      channel.onmessage = ({ data }: MessageEvent<TabMessage | Call>) => {
        if (data.type === "call") return stay?.leads && channel.postMessage({ type: "here" } satisfies Call);
        if (data.type === "here") heardAt = clock.monotonic();
        else given.heard(data);
      };
    },
    stand: (wanted) => (wanted ? enter("wait") : leave()),
    post: (message) => channel.postMessage(message),
    close() {
      leave();
      listener = undefined;
      channel.close();
    },
  };
}
