import { useContext, useState } from "react";
import { PersonContext } from "../people/people.ts";
import { useSyncStatus } from "../sync.ts";
import type { ProofreadPanel } from "./proofread-panel.tsx";
import type { ProofreadRun } from "./proofread-run.ts";

/** A run of the proofreader, and what shows it: code that is loaded when it is first asked for. */
export interface Proofreading {
  readonly run: ProofreadRun;
  readonly Panel: typeof ProofreadPanel;
}

interface Props {
  readonly deckId: string;
  onStart(proofreading: Proofreading): void;
}

/** Sends an agent through the deck: a process of its own, with its own token, that edits beside people. */
export function AskAgent({ deckId, onStart }: Props) {
  const [says, setSays] = useState("");
  const person = useContext(PersonContext);
  const isOnline = useSyncStatus((status) => status.name === "online");

  const ask = async () => {
    setSays("");
    try {
      const { ProofreadPanel, startProofreading } = await import("./proofread-panel.tsx");
      onStart({ run: startProofreading(deckId, person), Panel: ProofreadPanel });
    } catch {
      setSays("The agent could not be asked: this page’s server does not answer.");
    }
  };

  return (
    <section className="panel agent" aria-labelledby="agent-heading">
      <h2 id="agent-heading">An agent beside you</h2>
      <p>It claims each slide while it works there. Take it over when you like.</p>
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
