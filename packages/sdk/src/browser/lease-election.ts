import { ANSWER_MS, ASK_MS, type Election, type ElectionContext } from "./election.ts";

/** How long a candidate waits for the first answer: a leader answers at once unless its page is busy. */
const FIRST_ANSWER_MS = 250;
/** Several that hear that the leader is gone do not all ask at the same moment. */
const SPREAD_MS = 200;

/**
 * An election without locks, which browsers offer to secure pages only: the leader holds a lease, and renews it by
 * answering. A candidate asks; while it is answered it follows, and without an answer it leads.
 *
 *     stand ──call──► no answer in 250 ms ─────────────────► leads ──stand(false)──► gone
 *               └──► here ──3 s──► call ──► here ──3 s──► …    ▲
 *                                    └──► no answer in 3 s ────┘
 *
 * Two candidates may both get no answer. Each then counts the store's generation up as it begins to lead, and the one
 * with the later generation stays (`core/tabs/leadership.ts`): the other is deposed, stands again, and is answered.
 */
export function leaseElection({ clock, say, elected }: ElectionContext): Election {
  let stay: { leads: boolean } | undefined;
  let heardAt = Number.NEGATIVE_INFINITY;
  let calledOff = () => {};
  const closing = new AbortController();
  // The page goes, for ever or into the browser's memory: there it answers no more.
  if (typeof addEventListener === "function")
    addEventListener("pagehide", () => stay?.leads && say({ type: "gone" }), { signal: closing.signal });

  function then(ms: number, what: () => void): void {
    const own = stay;
    calledOff();
    calledOff = clock.wait(ms, () => stay === own && what());
  }

  function ask(answerMs: number): void {
    const askedAt = clock.monotonic();
    say({ type: "call" });
    then(answerMs, () => (heardAt >= askedAt ? then(ASK_MS, () => ask(ANSWER_MS)) : lead()));
  }

  function lead(): void {
    if (!stay) return;
    stay.leads = true;
    say({ type: "here" });
    elected();
  }

  function leave(): void {
    calledOff();
    if (stay?.leads) say({ type: "gone" });
    stay = undefined;
  }

  return {
    campaign(wanted) {
      leave();
      if (!wanted) return;
      stay = { leads: false };
      ask(FIRST_ANSWER_MS);
    },
    heard({ type }) {
      if (type === "call" && stay?.leads) say({ type: "here" });
      if (type === "here") heardAt = clock.monotonic();
      if (type === "gone" && stay && !stay.leads) then(Math.random() * SPREAD_MS, () => ask(FIRST_ANSWER_MS));
    },
    close() {
      leave();
      closing.abort();
    },
  };
}
