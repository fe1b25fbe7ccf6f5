import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Line {
  readonly url: string;
  /** Bytes that have come from the server. */
  received(): number;
  /** HTTP requests that went to the server, those that open a socket among them. */
  requests(): number;
  /** Connections so far, and how many of them have ended. */
  connections(): { readonly opened: number; readonly closed: number };
  /** Ends all connections. */
  cut(): void;
  close(): void;
}

/** A line to a server over which bytes go one after the other, and each half a round trip later. */
export async function openLine(
  server: URL,
  { delayMs, bitsPerSecond = Number.POSITIVE_INFINITY }: { delayMs: number; bitsPerSecond?: number },
): Promise<Line> {
  let received = 0;
  let requests = 0;
  const connections = { opened: 0, closed: 0 };
  const sockets = new Set<Socket>();
  const site = createServer((here) => {
    const there = connect(Number(server.port), server.hostname);
    connections.opened += 1;
    here.on("close", () => {
      connections.closed += 1;
    });
    forward(here, there, (piece) => {
      requests += piece.toString("latin1").match(/^(GET|POST|PUT|PATCH|DELETE) \//gm)?.length ?? 0;
    });
    forward(there, here, (piece) => {
      received += piece.length;
    });
    for (const socket of [here, there]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("close", () => sockets.delete(socket));
    }
  }).listen(0, "127.0.0.1");
  await once(site, "listening");

  const PIECE = 4_096;
  function forward(from: Socket, to: Socket, note: (piece: Buffer) => void): void {
    /** When the line has sent all that it was given. */
    let free = 0;
    from.on("data", (data: Buffer) => {
      for (let at = 0; at < data.length; at += PIECE) {
        const piece = data.subarray(at, at + PIECE);
        free = Math.max(free, performance.now()) + (piece.length * 8_000) / bitsPerSecond;
        setTimeout(
          () => {
            note(piece);
            if (!to.destroyed) to.write(piece);
          },
          free + delayMs - performance.now(),
        );
      }
      // No more is taken in than the line holds: else the sender believes that all has gone.
      from.pause();
      setTimeout(() => from.resume(), Math.max(0, free - performance.now() - 500));
    });
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
  }

  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    received: () => received,
    requests: () => requests,
    connections: () => ({ ...connections }),
    cut,
    close() {
      site.close();
      cut();
    },
  };
}
