import { dueNow } from "../connection/retry.ts";
import { type Draft, set } from "../draft.ts";
import type { Reading, ReplicaState } from "../state.ts";

/* What is known of the reads. Other machines change it by these functions only. */

export function changeReading(draft: Draft, change: Partial<Reading>): void {
  set<ReplicaState>(draft, { reading: { ...draft.state.reading, ...change } });
}

/** The server that responds next may have been restored from a backup meanwhile, or the clock may have been set. */
export const unverify = (draft: Draft): void => changeReading(draft, { verified: false });

/** The server has the log of the rows, and tells on the stream what comes. */
export const onStreamLive = (draft: Draft): void => changeReading(draft, { verified: true, pollAt: undefined });

/** The log reaches at least this position: what lies between is requested, if it does not come. */
export function lackUpTo(draft: Draft, position: number): void {
  const { missing = 0 } = draft.state.reading;
  changeReading(draft, { missing: Math.max(missing, position) });
}

/** The next attempt to read is likely to succeed. */
export function retryRead(draft: Draft): void {
  changeReading(draft, { wait: dueNow(draft.state.reading.wait, draft.now) });
}

/** Another tab leads, and detects a replaced log by itself. */
export function leaveSuspicion(draft: Draft): void {
  if (draft.state.reading.resync === "suspect") changeReading(draft, { resync: "anew" });
}
