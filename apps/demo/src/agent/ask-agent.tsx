import { useState } from "react";
import { useSyncStatus } from "../sync.ts";

/** Sends an agent through the deck: a process of its own, with its own token, that edits beside people. */
export function AskAgent({ deckId }: { deckId: string }) {
  const [says, setSays] = useState("");
  const isOnline = useSyncStatus((status) => status.name === "online");

  const ask = async () => {
    setSays("The proofreader is on its way.");
    try {
      const answer = await fetch(`/agent?deck=${encodeURIComponent(deckId)}`, { method: "POST" });
      if (!answer.ok) setSays(await answer.text());
    } catch {
      setSays("The agent could not be asked: this page’s server does not answer.");
    }
  };

  return (
    <section className="panel agent" aria-labelledby="agent-heading">
      <h2 id="agent-heading">An agent beside you</h2>
      <p>
        It mends quotes and dashes, one slide after the other. It claims the slide that it works on, so that no one else
        writes there meanwhile. Take it over when you like.
      </p>
      <p className="choices">
        <button type="button" onClick={() => void ask()} disabled={!isOnline}>
          Let it proofread this deck
        </button>
      </p>
      <p role="status" className="hint">
        {says}
      </p>
    </section>
  );
}
