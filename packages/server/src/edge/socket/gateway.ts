import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as patience } from "node:timers/promises";
import { closeCodes, limits, STREAM_PATH, STREAM_PROTOCOL } from "@holdfast/sdk/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import type { ConnectionQuota } from "../../kernel/limits/connection-quota.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { StreamAnswers } from "../../kernel/stream-answers.ts";
import type { ClientAddress } from "../addresses/client-address.ts";
import { hasToken, PREFIXES, searchOf } from "../addresses/request-url.ts";
import { endWithRefusal } from "../envelope/raw-refusal.ts";
import type { OpenStream } from "./handshake.ts";
import { startPinging } from "./pinger.ts";
import { createSession, type Session } from "./session.ts";
import type { SessionDeps } from "./session-deps.ts";
import { createSocketQuota } from "./socket-quota.ts";

export interface GatewayOptions extends Omit<SessionDeps, "streamAnswers"> {
  isOriginAllowed(origin: string): boolean;
  readonly socketsPerToken: number;
  readonly clientAddress: ClientAddress;
  readonly quota: ConnectionQuota;
}

/** Upgrades connections to WebSockets and supervises the open sockets. */
export interface Gateway {
  /** From now on, WebSockets are opened on this server; their calls are answered by these. */
  accept(server: Server, streamAnswers: StreamAnswers): void;
  readonly size: number;
  /** The participants with an open stream, each device once. */
  present(): OpenStream[];
  /** Closes the streams that use a token. Returns how many. */
  revoke(tokenId: string): number;
  /** Closes streams, all if not told which; their clients reconnect. */
  restart(reason: string, which?: (who: OpenStream) => boolean): void;
  close(): Promise<void>;
}

const CHECK_MS = 2_000;
/** How long a stop waits for calls in flight. */
const ANSWERS_MS = 6_000;
const UPGRADES_AT_ONCE = 20;

export function openGateway(options: GatewayOptions): Gateway {
  const sockets = new WebSocketServer({
    noServer: true,
    // A call that is too large is refused by its number.
    maxPayload: 2 * limits.frameBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(STREAM_PROTOCOL) ? STREAM_PROTOCOL : false),
  });
  const sessions = new Map<WebSocket, Session>();
  const pinger = startPinging(limits.pingMs);
  const socketQuota = createSocketQuota(options.socketsPerToken);
  let stopping = false;

  /** Upgrades that arrive together are answered a few per tick, so that they do not block the event loop. */
  const upgrades: (() => void)[] = [];
  function answerSome(): void {
    for (const answer of upgrades.splice(0, UPGRADES_AT_ONCE)) answer();
    if (upgrades.length > 0) setImmediate(answerSome);
  }

  function upgrade(deps: SessionDeps, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (socket.destroyed) return;
    const refusal = stopping ? refuse("unavailable") : checkUpgrade(request, options.isOriginAllowed);
    if (refusal) return endWithRefusal(socket, refusal, options.docUrl);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const session = createSession(opened, deps, {
        address: options.clientAddress.of(request),
        authenticated: () => options.quota.authenticated(socket),
        permit: socketQuota.permit(),
      });
      sessions.set(opened, session);
      pinger.add(opened);
      opened.on("close", () => sessions.delete(opened));
    });
  }

  const recheck = () => {
    for (const session of sessions.values()) session.check()?.catch(() => {});
  };
  const checking = setInterval(recheck, CHECK_MS).unref();

  return {
    accept(server, streamAnswers) {
      const deps = { ...options, streamAnswers };
      server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        // Until the upgrade, a client that hangs up must not throw.
        socket.on("error", () => {});
        upgrades.push(() => upgrade(deps, request, socket, head));
        if (upgrades.length === 1) answerSome();
      });
    },
    get size() {
      return sessions.size;
    },
    present: () => {
      const known = new Map<string, OpenStream>();
      for (const session of sessions.values()) {
        const who = session.who();
        if (who) known.set(`${who.tenant} ${who.participant} ${who.clientId}`, who);
      }
      return [...known.values()];
    },
    revoke: (tokenId) => [...sessions.values()].filter((session) => session.revoke(tokenId)).length,
    restart(reason, which) {
      for (const session of sessions.values()) {
        const who = session.who();
        if (!which || (who && which(who))) session.close(closeCodes.restarting, reason);
      }
    },
    async close() {
      stopping = true;
      clearInterval(checking);
      pinger.stop();
      const closed = [...sessions.keys()].map(
        (socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())),
      );
      // Calls that have come are answered before. The server refuses those that come from now on.
      const answered = Promise.all([...sessions.values()].map((session) => session.idle()));
      await Promise.race([answered, patience(ANSWERS_MS, undefined, { ref: false })]);
      for (const session of sessions.values()) session.close(closeCodes.restarting, "restarting");
      await Promise.all(closed);
    },
  };
}

const PATHS = new Set(PREFIXES.map((prefix) => prefix + STREAM_PATH));

function checkUpgrade(request: IncomingMessage, isOriginAllowed: (origin: string) => boolean): Refusal | undefined {
  const url = request.url ?? "";
  if (!PATHS.has(url.split("?")[0] ?? "")) return refuse("route_not_found");
  if (hasToken(searchOf(url))) return refuse("token_in_query");
  const { origin } = request.headers;
  if (origin !== undefined && !isOriginAllowed(origin)) return refuse("origin_not_allowed");
  const offered = request.headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim()) ?? [];
  if (!offered.includes(STREAM_PROTOCOL))
    return refuse("invalid_value", {
      param: "Sec-WebSocket-Protocol",
      message: `Open the socket with the subprotocol ${STREAM_PROTOCOL}.`,
    });
  return undefined;
}
