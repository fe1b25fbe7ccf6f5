import type { Claim, FrameDown } from "@holdfast/sdk/protocol";
import { openStream } from "../support/open-stream.ts";
import { momentNow, type Recorder, type ShownClaim } from "./history.ts";
import { type Claimant, MODEL } from "./plan.ts";
import { shownClaim } from "./recording-client.ts";

/** A claimant's open stream: it keeps the claimant alive and receives its grants. */
export interface Listener {
  /** The next news of a claim; undefined when there was none in time. */
  news(id: string, withinMs: number): Promise<ShownClaim | undefined>;
  close(): void;
}

const RETRY_MS = 300;

export function listen(
  urls: readonly string[],
  claimant: Claimant,
  watched: string | undefined,
  recorder: Recorder,
): Listener {
  const waiting = new Map<string, (claim: ShownClaim) => void>();

  function receive(frame: FrameDown): void {
    const shown: readonly Claim[] =
      frame.frame === "claim" ? [frame.claim] : frame.frame === "claims" ? [...frame.claims, ...frame.queue] : [];
    for (const claim of shown.map(shownClaim)) {
      recorder.heard({ actor: claimant.actor, at: momentNow(), claim });
      if (frame.frame === "claim") waiting.get(claim.id)?.(claim);
    }
  }

  const close = openStream({
    ...{ urls, retryMs: RETRY_MS, receive },
    hello: () => [
      { frame: "hello", token: claimant.token, clientId: claimant.actor },
      ...(watched ? [{ frame: "watch", model: MODEL, ids: [watched] }] : []),
    ],
  });
  return {
    news: (id, withinMs) =>
      new Promise((resolve) => {
        const done = (claim: ShownClaim | undefined) => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(claim);
        };
        const timer = setTimeout(done, withinMs, undefined);
        waiting.set(id, done);
      }),
    close,
  };
}
