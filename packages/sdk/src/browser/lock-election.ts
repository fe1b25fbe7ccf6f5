import { ANSWER_MS, CALL_MS, type Election, type ElectionContext } from "./election.ts";

/**
 * The tab that holds the lock leads. When that tab closes, the browser gives the lock to the next one. A frozen tab
 * keeps its lock and does nothing, so a candidate whose call gets no reply steals the lock. The candidate measures the
 * time, because browsers delay timers in background tabs, but not replies to messages.
 */
export function lockElection({ name, clock, post, elected, replaced }: ElectionContext): Election {
  /** One candidacy, from `campaign(true)` until the tab stops leading or leaves the election. */
  let candidacy: { leads: boolean; readonly leave: AbortController; release(): void } | undefined;
  let repliedAt = clock.monotonic();
  let cancelTimer = () => {};

  function enter(how: "wait" | "steal"): void {
    leave();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const own = { leads: false, leave: new AbortController(), release };
    candidacy = own;
    const options = how === "steal" ? { steal: true } : { signal: own.leave.signal };
    navigator.locks
      .request(name, options, () => {
        if (candidacy !== own) return undefined;
        own.leads = true;
        cancelTimer();
        // Candidates that called the previous leader receive this too, and need not steal the lock.
        post({ type: "here" });
        elected();
        return held;
      })
      // The request was aborted while it waited, or another tab stole the lock.
      .catch(() => {
        if (candidacy !== own || !own.leads) return;
        candidacy = undefined;
        replaced();
      });
    if (how === "wait") watch();
  }

  function leave(): void {
    cancelTimer();
    const own = candidacy;
    candidacy = undefined;
    if (!own) return;
    if (own.leads) own.release();
    else own.leave.abort();
  }

  /** Calls repeatedly while this tab waits for the lock. */
  function watch(): void {
    const own = candidacy;
    const then = (ms: number, what: () => void) => {
      cancelTimer();
      cancelTimer = clock.wait(ms, () => candidacy === own && what());
    };
    repliedAt = clock.monotonic();
    const call = () => {
      const calledAt = clock.monotonic();
      post({ type: "call" });
      then(ANSWER_MS, () => (repliedAt >= calledAt ? then(CALL_MS, call) : enter("steal")));
    };
    then(CALL_MS, call);
  }

  return {
    campaign: (wanted) => (wanted ? enter("wait") : leave()),
    received({ type }) {
      if (type === "call" && candidacy?.leads) post({ type: "here" });
      if (type === "here") repliedAt = clock.monotonic();
    },
    close: leave,
  };
}
