import type { Draft } from "../draft.ts";
import { retryRead } from "../log/reading-state.ts";
import { retrySending } from "../queue/sending-state.ts";
import { retryToken } from "./auth.ts";
import { retryAsking } from "./own-owner.ts";
import { dueNow } from "./retry.ts";
import { changeStream } from "./stream-state.ts";

/** The next attempt is likely to succeed: end all waits. */
export function retryNow(draft: Draft): void {
  retryAsking(draft);
  retrySending(draft);
  retryRead(draft);
  changeStream(draft, { wait: dueNow(draft.state.stream.wait, draft.now) });
  retryToken(draft);
}
