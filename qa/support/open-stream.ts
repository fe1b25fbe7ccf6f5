import type { FrameDown } from "@holdfast/sdk/protocol";
import { WebSocket } from "ws";

interface StreamPlan {
  /** It connects to one after the other. */
  readonly urls: readonly string[];
  readonly retryMs: number;
  /** The frames that it begins with. */
  hello(): readonly object[];
  receive(frame: FrameDown): void;
}

/** A stream that connects again whenever it is cut. Returns how to close it. */
export function openStream({ urls, retryMs, hello, receive }: StreamPlan): () => void {
  let socket: WebSocket | undefined;
  let tried = 0;
  let closed = false;

  function connect(): void {
    if (closed) return;
    const url = urls[tried++ % urls.length] as string;
    const next = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, ["holdfast.v1"]);
    socket = next;
    next.on("open", () => {
      for (const frame of hello()) next.send(JSON.stringify(frame));
    });
    next.on("message", (data: Buffer) => receive(JSON.parse(data.toString()) as FrameDown));
    next.on("error", () => {});
    next.on("close", () => setTimeout(connect, retryMs));
  }

  connect();
  return () => {
    closed = true;
    socket?.terminate();
  };
}
