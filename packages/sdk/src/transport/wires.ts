import type { Clock, Server, Stream, TokenSource } from "../engine/ports.ts";
import { httpServer } from "./http.ts";
import { logStream } from "./stream.ts";

/** Both ways to the server. */
export interface Wires {
  readonly server: Server;
  readonly stream: Stream;
}

export function openWires(given: {
  readonly url: string;
  readonly token: TokenSource;
  readonly timeoutMs: number;
  readonly models: readonly string[];
  readonly clock: Clock;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly WebSocket?: unknown;
}): Wires {
  const { url, token, timeoutMs, models, clock, fetch, WebSocket } = given;
  return {
    server: httpServer({ url, token, timeoutMs, models, fetch }),
    stream: logStream({ url, clock, models, WebSocket }),
  };
}
