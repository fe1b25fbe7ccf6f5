import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** By connection: what waits for the end of responses on it. */
const waiting = new WeakMap<Duplex, Set<() => void>>();

/**
 * Calls back once the response has left the process, or cannot leave it any more; at once if it has. A response that is queued behind
 * another one on its connection emits no "close" when the connection ends, so the connection is watched too.
 */
export function whenEnded(response: ServerResponse, then: () => void): void {
  const { socket } = response.req;
  if (response.closed || response.destroyed || socket.destroyed) return then();
  const pending = waiting.get(socket) ?? watch(socket);
  const end = () => {
    if (pending.delete(end)) then();
  };
  pending.add(end);
  response.once("close", end);
}

function watch(socket: Duplex): Set<() => void> {
  const pending = new Set<() => void>();
  waiting.set(socket, pending);
  socket.once("close", () => {
    for (const end of pending) end();
  });
  return pending;
}
