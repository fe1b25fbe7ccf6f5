import type { Clock, Stream, StreamListener } from "../engine/ports.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import { STREAM_PATH } from "../protocol/client-paths.ts";
import { STREAM_PROTOCOL } from "../protocol/version.ts";
import { readFrame } from "./read-frame.ts";

export interface StreamOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly models: readonly string[];
  /** Where the platform has no WebSocket of its own. */
  readonly WebSocket?: unknown;
}

/** A line that says nothing for this long is asked whether it still lives. */
const PING_AFTER_MS = limits.pingMs - 5_000;
const CONNECT_MS = 10_000;
/** `WebSocket.OPEN`, without asking a class that may not be there. */
const OPEN = 1;
/** Not a code of the protocol: this side gave the line up. */
const SILENT = 4000;

/** One socket at a time, both ways. It keeps nothing and decides nothing: when to open it again is the core's business. */
export function logStream({ url, clock, models, WebSocket: given }: StreamOptions): Stream {
  let line: Line | undefined;
  return {
    open(listener) {
      line?.drop();
      line = openLine(listener);
    },
    hello({ token, clientId, logId, since, scope = {}, view }) {
      const { models: wanted = models, groups } = scope;
      line?.say({
        ...{ frame: "hello", token, clientId, log: logId, since },
        ...(wanted.length > 0 && { models: wanted }),
        ...(groups && { groups }),
        ...(view !== undefined && { view }),
      });
    },
    say: (frame) => line?.say(frame),
    close() {
      line?.drop();
      line = undefined;
    },
  };

  function openLine(listener: StreamListener): Line {
    let over = false;
    let pings = 0;
    let quiet = clock.wait(CONNECT_MS, () => end(SILENT, "The stream could not be opened in time."));
    // One attempt each: waiting between attempts is the core's, so that it is jittered, seen and called off in one place.
    const socket = openSocket();

    function openSocket(): WebSocket | undefined {
      try {
        const Socket = (given ?? globalThis.WebSocket) as typeof WebSocket;
        return new Socket(streamAddress(url), STREAM_PROTOCOL);
      } catch (error) {
        // Nothing to open one with, or a page that may not: told like any other end, after `open` has returned.
        queueMicrotask(() => end(SILENT, String(error)));
        return undefined;
      }
    }

    function end(code: number, reason: string): void {
      if (over) return;
      over = true;
      quiet();
      // Let go rather than waited for: after sleep a close handshake may take minutes.
      socket?.close();
      listener.closed(code, reason);
    }

    /** Sleep, or a cable pulled, leaves a socket that looks open and is silent for ever. */
    function listenForSilence(): void {
      quiet();
      quiet = clock.wait(PING_AFTER_MS, () => {
        pings += 1;
        say({ frame: "ping", n: pings });
        quiet = clock.wait(limits.pongMs, () => end(SILENT, "The stream fell silent."));
      });
    }

    const say = (frame: object): void => {
      if (!over && socket?.readyState === OPEN) socket.send(JSON.stringify(frame));
    };

    socket?.addEventListener("open", () => {
      if (over) return;
      listenForSilence();
      listener.opened();
    });
    socket?.addEventListener("message", (event) => {
      if (over) return;
      listenForSilence();
      const frame = readFrame(event.data);
      if (frame) listener.frame(frame);
    });
    socket?.addEventListener("close", (event) => end(event.code, event.reason));
    socket?.addEventListener("error", () => end(SILENT, "The stream could not be opened, or broke."));

    return {
      say,
      drop: () => {
        over = true;
        quiet();
        socket?.close();
      },
    };
  }
}

interface Line {
  say(frame: object): void;
  /** Gives it up without a word to the listener. */
  drop(): void;
}

function streamAddress(url: string): string {
  const address = new URL(url.endsWith("/") ? url : `${url}/`);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.pathname += STREAM_PATH.slice(1);
  return address.href;
}
