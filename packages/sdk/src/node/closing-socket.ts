import { WebSocket } from "ws";

/**
 * A server that is gone never answers the close handshake. `ws` would wait 30 s for it, and keep the process alive.
 * Undefined where a bundler has put the empty `ws` for browsers in its place: the platform has a WebSocket there.
 */
export const closingSocket = (): unknown =>
  typeof WebSocket === "function"
    ? class extends WebSocket {
        constructor(address: string, protocols?: string | string[]) {
          // Not in the types of `ws` yet.
          const options: WebSocket.ClientOptions & { closeTimeout: number } = { closeTimeout: 1_000 };
          super(address, protocols, options);
        }
      }
    : undefined;
