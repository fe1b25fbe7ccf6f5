import type { ProofreadEvent } from "./proofread-event.ts";
import { NEW_REPORT, type ProofreadReport, stopped, withEvent } from "./proofread-report.ts";

/** One run of the proofreader, as this window follows it. */
export interface ProofreadRun {
  get(): ProofreadReport;
  subscribe(listener: () => void): () => void;
}

/** Sends the proofreader through a deck, and reads what it reports. */
export function startProofreading(deckId: string, person: string): ProofreadRun {
  let report = NEW_REPORT;
  const listeners = new Set<() => void>();
  const show = (next: ProofreadReport) => {
    report = next;
    for (const listener of listeners) listener();
  };
  ask(deckId, person, (event) => show(withEvent(report, event))).then(
    (refusal) => show(stopped(report, refusal)),
    () => show(stopped(report, "The connection to this page’s server was lost. The proofreader may still be at work.")),
  );
  return {
    get: () => report,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Resolves at the end of the response, with why there was none; empty: there was one. */
async function ask(deckId: string, person: string, onEvent: (event: ProofreadEvent) => void): Promise<string> {
  const response = await fetch(`/agent?${new URLSearchParams({ deck: deckId, for: `user:${person}` })}`, {
    method: "POST",
  });
  if (!response.ok || !response.body) return await response.text();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let open = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return "";
    const lines = (open + value).split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) onEvent(JSON.parse(line) as ProofreadEvent);
  }
}
