import { sourceLimits } from "@holdfast/sdk/protocol";
import type { CommitLanes } from "../../../kernel/commits/flows/commit-lanes.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { takeDueIntents } from "../db/intents.ts";
import type { SourceIntent } from "../rules/source-intent.ts";
import { type AskSource, settle } from "./submit-commits.ts";

export interface FinishDeps {
  readonly db: Database;
  readonly lanes: Pick<CommitLanes, "step">;
  readonly ask: AskSource;
  report(error: unknown): void;
}

/** Of one source at a time, as many as go in one call. */
const MOST_OF_SOURCE = sourceLimits.commitsPerCall;
const MOST = 1_000;

/**
 * Asks again about intents whose process got no answer, or did not live to save it. The source does each commit once,
 * so its answer says what became of it. One that does not answer keeps only itself busy.
 */
export function finishIntents({ db, lanes, ask, report }: FinishDeps): () => Promise<undefined> {
  /** By source: how many of its intents are asked about now. */
  const asking = new Map<string, number>();

  async function finish(intent: SourceIntent): Promise<void> {
    const key = `${intent.commit.principal.tenant} ${intent.source}`;
    asking.set(key, (asking.get(key) ?? 0) + 1);
    try {
      const answer = await ask(intent);
      if (answer) await settle(lanes, intent, answer);
    } finally {
      const left = (asking.get(key) ?? 1) - 1;
      if (left === 0) asking.delete(key);
      else asking.set(key, left);
    }
  }

  return async () => {
    const due = await takeDueIntents(db, { mostOfSource: MOST_OF_SOURCE, most: MOST, busy: [...asking.keys()] });
    for (const intent of due) void finish(intent).catch(report);
    return undefined;
  };
}
