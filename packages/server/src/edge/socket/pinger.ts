import type { WebSocket } from "ws";

/** Terminates connections whose peer no longer responds to pings, for example after its network was cut. */
export interface Pinger {
  /** Pings the socket until it closes. */
  add(socket: WebSocket): void;
  stop(): void;
}

interface Peer {
  readonly socket: WebSocket;
  /** Unanswered pings. */
  missed: number;
}

/** Peers are spread over this many ticks: thousands of pings at once would block the event loop. */
const SLICES = 100;
const MOST_MISSED = 2;

/** Pings each peer once per `everyMs`. */
export function startPinging(everyMs: number): Pinger {
  const slices = Array.from({ length: SLICES }, () => new Set<Peer>());
  let added = 0;
  let turn = 0;
  const timer = setInterval(() => {
    turn = (turn + 1) % SLICES;
    for (const peer of slices[turn] as Set<Peer>) visit(peer);
  }, everyMs / SLICES).unref();

  return {
    add(socket) {
      const peer: Peer = { socket, missed: 0 };
      const slice = slices[added++ % SLICES] as Set<Peer>;
      slice.add(peer);
      socket.on("pong", () => {
        peer.missed = 0;
      });
      socket.on("close", () => slice.delete(peer));
    },
    stop: () => clearInterval(timer),
  };
}

function visit(peer: Peer): void {
  if (peer.missed >= MOST_MISSED) return peer.socket.terminate();
  peer.missed += 1;
  peer.socket.ping();
}
