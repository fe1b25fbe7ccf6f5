import type { WebSocket } from "ws";

/** Finds out which peers are gone without a word: one whose cable was pulled answers no pings. */
export interface Pinger {
  /** Until it closes. */
  add(socket: WebSocket): void;
  stop(): void;
}

interface Peer {
  readonly socket: WebSocket;
  /** Pings that it has not answered. */
  missed: number;
}

/** Thousands of pings at once would hold up everything else. */
const SLICES = 100;
const MOST_MISSED = 2;

/** Each peer has its turn once in that time, and the peers are spread over it. */
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
