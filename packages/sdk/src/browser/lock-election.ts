import { ANSWER_MS, ASK_MS, type Election, type ElectionContext } from "./election.ts";

/**
 * The tab that holds the lock leads. When that tab closes, the browser gives the lock to the next one. A frozen tab
 * keeps its lock and does nothing, so a candidate whose call gets no reply steals the lock. The candidate measures the
 * time, because browsers delay timers in background tabs, but not replies to messages.
 */
export function lockElection({ name, clock, say, elected, replaced }: ElectionContext): Election {
  /** One candidacy, from `campaign(true)` until the tab stops leading or leaves the election. */
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
        // Candidates that called the previous leader receive this too, and need not steal the lock.
        say({ type: "here" });
        elected();
        return held;
      })
      // The request was aborted while it waited, or another tab stole the lock.
      .catch(() => {
        if (stay !== own || !own.leads) return;
        stay = undefined;
        replaced();
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

  /** Calls repeatedly while this tab waits for the lock. */
  function watch(): void {
    const own = stay;
    const then = (ms: number, what: () => void) => {
      calledOff();
      calledOff = clock.wait(ms, () => stay === own && what());
    };
    heardAt = clock.monotonic();
    const ask = () => {
      const askedAt = clock.monotonic();
      say({ type: "call" });
      then(ANSWER_MS, () => (heardAt >= askedAt ? then(ASK_MS, ask) : enter("steal")));
    };
    then(ASK_MS, ask);
  }

  return {
    campaign: (wanted) => (wanted ? enter("wait") : leave()),
    heard({ type }) {
      if (type === "call" && stay?.leads) say({ type: "here" });
      if (type === "here") heardAt = clock.monotonic();
    },
    close: leave,
  };
}
