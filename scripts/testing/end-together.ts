import type { Duplex } from "node:stream";

/** What a proxy connects: if one is closed or breaks, the other is closed too. */
export function endTogether(...[one, other]: readonly [Duplex, Duplex]): void {
  for (const [socket, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    socket.on("error", () => {});
    socket.on("close", () => peer.destroy());
  }
}
