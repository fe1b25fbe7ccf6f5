import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/**
 * How a server that stops lets its connections go. A request can be in three places that Node does not count: its
 * connection waits to be accepted, its bytes wait to be read, or it waits behind another one on its connection. All of
 * them get an answer:
 *
 * 1. `refuseMore` accepts and reads what has arrived, and then closes the listener.
 * 2. The last answer on each connection says that it closes.
 * 3. A connection without a request closes once it has been idle for a moment, so that a client that has just read an
 *    answer does not write its next request into a closed connection.
 */
export interface Connections {
  /** The `connection` header of the response; undefined as long as the server goes on. */
  headerFor(request: IncomingMessage): "close" | "keep-alive" | undefined;
  /** Whether no later request has arrived on the connection of this one. */
  isNewest(request: IncomingMessage): boolean;
  /** Takes what has arrived, then begins to close. `closed` resolves when all connections have ended. */
  refuseMore(): Promise<{ readonly closed: Promise<void> }>;
}

/** How long a connection stays open after an answer, for a request that is on its way. */
const GRACE_MS = 500;
const SWEEP_MS = 50;
/** As many connections as the system keeps for a listener. In each turn of the event loop one is accepted. */
const MOST_TURNS = 1_024;

interface Connection {
  newest?: IncomingMessage;
  /** Requests without an answer. */
  running: number;
  /** When it was opened, or the last answer was sent, and the bytes read until then. */
  since: number;
  bytesRead: number;
}

export function watchConnections(app: FastifyInstance, stopping: AbortSignal): Connections {
  const { server } = app;
  const open = new Map<Duplex & { readonly bytesRead?: number }, Connection>();
  let accepted = 0;
  leaveIdleOnes(server);
  server.on("connection", (socket) => {
    accepted += 1;
    open.set(socket, { running: 0, since: performance.now(), bytesRead: 0 });
    socket.once("close", () => open.delete(socket));
  });
  server.on("upgrade", (_request, socket) => open.delete(socket));
  // Before Fastify's own listener, which may answer at once.
  server.prependListener("request", (request, response) => {
    const connection = open.get(request.socket);
    if (!connection) return;
    connection.newest = request;
    connection.running += 1;
    response.once("close", () => {
      connection.running -= 1;
      connection.since = performance.now();
      connection.bytesRead = request.socket.bytesRead;
    });
  });

  function endIdleOnes(): void {
    const before = performance.now() - GRACE_MS;
    for (const [socket, { newest, running, since, bytesRead }] of open) {
      const isReceiving = socket.bytesRead !== bytesRead || newest?.complete === false;
      if (running === 0 && !isReceiving && since < before) socket.destroy();
    }
  }
  stopping.addEventListener("abort", () => {
    endIdleOnes();
    const sweep = setInterval(endIdleOnes, SWEEP_MS).unref();
    server.once("close", () => clearInterval(sweep));
  });

  /** A turn without a new connection can have begun before this call, so only the second one counts. */
  async function takeArrived(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < 2 && turns < MOST_TURNS; turns += 1) {
      const before = accepted;
      await turn();
      quiet = accepted === before ? quiet + 1 : 0;
    }
  }

  const isNewest = (request: IncomingMessage) => open.get(request.socket)?.newest === request;
  let isClosing = false;
  return {
    headerFor: (request) => (isClosing ? (isNewest(request) ? "close" : "keep-alive") : undefined),
    isNewest,
    async refuseMore() {
      isClosing = true;
      await takeArrived();
      const closed = app.close();
      while (server.listening) await turn();
      await takeArrived();
      return { closed };
    },
  };
}

/** Node takes a connection for idle whose next request it has not read, and `close` would end it. */
function leaveIdleOnes(server: Server): void {
  server.closeIdleConnections = () => {};
}
