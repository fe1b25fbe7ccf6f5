import ReconnectingWebSocket, { CloseEvent } from "partysocket/ws";
import type { Clock, Stream, StreamListener } from "../engine/ports.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import { STREAM_PATH } from "../protocol/client-paths.ts";
import { STREAM_PROTOCOL } from "../protocol/version.ts";
import { readFrame } from "./read-frame.ts";
import type { SaidSchema } from "./said-schema.ts";
import { StreamCalls } from "./stream-calls.ts";

/*
 * One partysocket for the life of the client. Its own reconnecting is suppressed, because the core alone decides when
 * to connect: waits must be random, shown in `status()`, and cancelable in one place. So its address callback is a
 * gate:
 *
 *   core: openStream ──► gate opens ──► connecting ──► open ──► closed, failed, or silent
 *                           ▲                                        │
 *                           └──── partysocket waits at the gate ◄────┘  the listener is notified once
 */

export interface StreamOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly models: readonly string[];
  readonly schema?: SaidSchema;
  /** For platforms without their own WebSocket. */
  readonly WebSocket?: unknown;
}

/** A socket that is silent for this long gets a ping. */
const PING_AFTER_MS = limits.pingMs - 5_000;
/** And earlier after a call, which would wait as long, unless its frame is so long that it may still be on its way. */
const PING_AFTER_CALL_MS = 2_000;
const LONG_CALL = 8_192;
const CONNECT_MS = 10_000;
/** Not a code of the protocol: the client gave up the socket. */
const TIMED_OUT = 4000;

/** The WebSocket that delivers the log. It has no state of its own: the core decides when to open it. */
export function logStream({
  url,
  clock,
  models,
  schema,
  WebSocket,
}: StreamOptions): Stream & Pick<StreamCalls, "call"> {
  const address = streamAddress(url);
  /** The listener of the present attempt. Undefined: there is none, and the gate is shut. */
  let listener: StreamListener | undefined;
  let pings = 0;
  /** A ping is sent soon, or has no answer yet. */
  let isPingDue = false;
  /** The token that was sent last. */
  let token: string | undefined;
  let openGate = () => {};
  let stopClock = () => {};

  const socket = new ReconnectingWebSocket(
    async () => {
      if (!listener)
        await new Promise<void>((resolve) => {
          openGate = resolve;
        });
      return address;
    },
    STREAM_PROTOCOL,
    {
      startClosed: true,
      // A frame belongs to the socket that is open now. The next socket starts with `hello`.
      maxEnqueuedMessages: 0,
      minReconnectionDelay: 0,
      maxReconnectionDelay: 0,
      // Never reached: the client's own limit is shorter and uses the client's clock.
      connectionTimeout: 2 * CONNECT_MS,
      WebSocket,
    },
  );

  function giveUpAfter(ms: number, reason: string): void {
    stopClock();
    stopClock = clock.wait(ms, () => {
      const ended = shutGate();
      // After sleep, a close handshake may take minutes. `reconnect` drops the socket at once.
      socket.reconnect(TIMED_OUT);
      ended?.closed(TIMED_OUT, reason);
    });
  }

  const calls = new StreamCalls((text) => {
    socket.send(text);
    if (!isPingDue && text.length < LONG_CALL) restartPingTimer(PING_AFTER_CALL_MS);
  });

  /** After sleep or a pulled cable, a socket looks open and stays silent forever. */
  function restartPingTimer(ms = PING_AFTER_MS): void {
    stopClock();
    isPingDue = ms < PING_AFTER_MS;
    stopClock = clock.wait(ms, () => {
      isPingDue = true;
      pings += 1;
      send({ frame: "ping", n: pings });
      giveUpAfter(limits.pongMs, "The stream stopped responding.");
    });
  }

  /** Ends the present attempt and returns its listener. Notify it last, because it may open the next one. */
  function shutGate(): StreamListener | undefined {
    const ended = listener;
    listener = undefined;
    stopClock();
    calls.closed();
    return ended;
  }

  function send(frame: object): void {
    if (listener && socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
  }

  // Properties, because `addEventListener` gets copies of the events, without the close code.
  socket.onopen = () => {
    if (!listener) return;
    restartPingTimer();
    listener.opened();
  };
  socket.onmessage = (event) => {
    if (!listener) return;
    restartPingTimer();
    const frame = readFrame(event.data);
    if (frame?.frame === "answer") return calls.answered(frame);
    if (frame?.frame === "welcome") calls.live(token, frame.calls ?? 0);
    if (frame?.frame === "renewed") calls.live(token);
    if (frame) listener.frame(frame);
  };
  socket.onclose = (event) => {
    // partysocket fires its own close event, with code 1000, when the client closes the socket and before every error.
    const isMadeUp: boolean = event instanceof CloseEvent;
    if (!isMadeUp) shutGate()?.closed(event.code, event.reason);
  };
  socket.onerror = ({ message }) => {
    shutGate()?.closed(TIMED_OUT, message || "The stream could not be opened, or was interrupted.");
  };

  return {
    open(next) {
      stopClock();
      listener = next;
      pings = 0;
      giveUpAfter(CONNECT_MS, "The stream could not be opened in time.");
      socket.reconnect();
      openGate();
    },
    hello({ token: current, clientId, logId, since, scope = {}, parts, more, view }) {
      const { models: wanted = models, groups, where } = scope;
      token = current;
      calls.live(undefined);
      send({
        ...{ frame: "hello", token, clientId, log: logId, since },
        ...(parts
          ? { parts, ...(more && { more }) }
          : { ...(wanted.length > 0 && { models: wanted }), ...(where && { where }) }),
        ...(groups && { groups }),
        ...(view !== undefined && { view }),
        schema: schema?.now,
      });
    },
    send(frame) {
      if (frame.frame === "auth") token = frame.token;
      send(frame);
    },
    call: (request, signal) => calls.call(request, signal),
    close() {
      shutGate();
      socket.close();
    },
  };
}

function streamAddress(url: string): string {
  const address = new URL(url.endsWith("/") ? url : `${url}/`);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.pathname += STREAM_PATH.slice(1);
  return address.href;
}
