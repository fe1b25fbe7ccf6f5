import { dueNow } from "../connection/retry.ts";
import { type Draft, set } from "../draft.ts";
import type { QueueState, Sending } from "../state.ts";

export function changeSending(draft: Draft, change: Partial<Sending>): void {
  set<QueueState>(draft, { sending: { ...draft.state.sending, ...change } });
}

/** The next attempt to send is likely to succeed. */
export function retrySending(draft: Draft): void {
  changeSending(draft, { wait: dueNow(draft.state.sending.wait, draft.now) });
}
