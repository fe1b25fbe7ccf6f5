import { ANSWER_MS, ASK_MS, type Election, type ElectionContext } from "./election.ts";

/**
 * The tab that holds the lock leads; the browser gives the lock to the next when that tab goes. A tab that is frozen keeps
 * its lock and does nothing: a candidate that asks and gets no answer takes the lock from it. Timers of tabs in the
 * background may be late, answers to messages are not, so it is the candidate that measures time.
 */
export function lockElection({ name, clock, say, elected, replaced }: ElectionContext): Election {
  /** One candidacy, from `stand` to the end of the lead or of the wish for it. */
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
        // Also to those that asked the one before: they need not take the lock from this one at once.
        say({ type: "here" });
        elected();
        return held;
      })
      // Called off while it waited, or taken away by another tab.
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

  /** Asks again and again, as long as this tab waits for the lock. */
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
