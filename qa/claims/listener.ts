import type { Claim, FrameDown } from "@holdfast/sdk/protocol";
import { WebSocket } from "ws";
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
  let socket: WebSocket | undefined;
  let tried = 0;
  let closed = false;

  function connect(): void {
    if (closed) return;
    const url = urls[tried++ % urls.length] as string;
    socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, ["holdfast.v1"]);
    const next = socket;
    next.on("open", () => {
      next.send(JSON.stringify({ frame: "hello", token: claimant.token, clientId: claimant.actor }));
      if (watched) next.send(JSON.stringify({ frame: "watch", model: MODEL, ids: [watched] }));
    });
    next.on("message", (data: Buffer) => receive(JSON.parse(data.toString()) as FrameDown));
    next.on("error", () => {});
    next.on("close", () => setTimeout(connect, RETRY_MS));
  }

  function receive(frame: FrameDown): void {
    const shown: readonly Claim[] =
      frame.frame === "claim" ? [frame.claim] : frame.frame === "claims" ? [...frame.claims, ...frame.queue] : [];
    for (const claim of shown.map(shownClaim)) {
      recorder.heard({ actor: claimant.actor, at: momentNow(), claim });
      if (frame.frame === "claim") waiting.get(claim.id)?.(claim);
    }
  }

  connect();
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
    close: () => {
      closed = true;
      socket?.terminate();
    },
  };
}
