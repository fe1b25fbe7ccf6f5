import { ANSWER_MS, CALL_MS, type Election, type ElectionContext } from "./election.ts";

/** How long a candidate waits for the first reply. A leader replies at once unless its page is busy. */
const FIRST_ANSWER_MS = 250;
/** Spreads the candidates' first calls after a leader has gone. */
const SPREAD_MS = 200;

/**
 * An election without locks, which browsers offer only in secure contexts. The leader holds a lease that it renews by
 * replying to calls. A candidate calls: while it gets replies it follows, and without a reply it leads.
 *
 * campaign ──call──► no reply in 250 ms ──────────────────► leads ──campaign(false)──► gone
 *              └──► here ──3 s──► call ──► here ──3 s──► …    ▲
 *                                   └──► no reply in 3 s ─────┘
 *
 * Two candidates may both get no reply. Each then raises the store's generation as it begins to lead, and the one with
 * the higher generation stays (`core/tabs/leadership.ts`): the other is fenced, campaigns again, and gets a reply.
 */
export function leaseElection({ clock, post, elected }: ElectionContext): Election {
  let candidacy: { leads: boolean } | undefined;
  let repliedAt = Number.NEGATIVE_INFINITY;
  let cancelTimer = () => {};
  const closing = new AbortController();
  // The page is being closed or cached, and a cached page does not reply.
  if (typeof addEventListener === "function")
    addEventListener("pagehide", () => candidacy?.leads && post({ type: "gone" }), { signal: closing.signal });

  function then(ms: number, what: () => void): void {
    const own = candidacy;
    cancelTimer();
    cancelTimer = clock.wait(ms, () => candidacy === own && what());
  }

  function call(answerMs: number): void {
    const calledAt = clock.monotonic();
    post({ type: "call" });
    then(answerMs, () => (repliedAt >= calledAt ? then(CALL_MS, () => call(ANSWER_MS)) : lead()));
  }

  function lead(): void {
    if (!candidacy) return;
    candidacy.leads = true;
    post({ type: "here" });
    elected();
  }

  function leave(): void {
    cancelTimer();
    if (candidacy?.leads) post({ type: "gone" });
    candidacy = undefined;
  }

  return {
    campaign(wanted) {
      leave();
      if (!wanted) return;
      candidacy = { leads: false };
      call(FIRST_ANSWER_MS);
    },
    received({ type }) {
      if (type === "call" && candidacy?.leads) post({ type: "here" });
      if (type === "here") repliedAt = clock.monotonic();
      if (type === "gone" && candidacy && !candidacy.leads)
        then(Math.random() * SPREAD_MS, () => call(FIRST_ANSWER_MS));
    },
    close() {
      leave();
      closing.abort();
    },
  };
}
