import { WebSocket } from "ws";

/**
 * A dead server never answers the close handshake. `ws` would wait 30 s for it and keep the process alive. Undefined if
 * a bundler has replaced `ws` by its empty browser version; then the platform has a WebSocket.
 */
export const closingSocket = (): unknown =>
  typeof WebSocket === "function"
    ? class extends WebSocket {
        constructor(address: string, protocols?: string | string[]) {
          // The types of `ws` do not contain it yet.
          const options: WebSocket.ClientOptions & { closeTimeout: number } = { closeTimeout: 1_000 };
          super(address, protocols, options);
        }
      }
    : undefined;
