import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { DocUrl } from "../envelope/envelope.ts";
import { endWithRefusal } from "../envelope/raw-refusal.ts";

/** Responds to requests that Node's HTTP parser rejects, with the usual error envelope, and closes the connection. */
export interface BrokenRequests {
  watch(server: Server): void;
  answer(error: Error & { readonly code?: string; readonly rawPacket?: unknown }, socket: Socket): void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function brokenRequests(docUrl: DocUrl): BrokenRequests {
  const newest = new WeakMap<Duplex, Exchange>();
  return {
    watch: (server) =>
      void server.on("request", (request, response) => newest.set(request.socket, { request, response })),
    answer(error, socket) {
      if (error.code === "ECONNRESET" || !socket.writable) {
        socket.destroy();
        return;
      }
      const end = () => {
        if (socket.writable) endWithRefusal(socket, refusalOf(error.code), docUrl, isHead(error.rawPacket));
      };
      const before = newest.get(socket);
      // An earlier request on this connection is still running. A response sent now would be taken for its response, so
      // wait for that one.
      if (before?.request.complete && !before.response.closed) before.response.once("close", end);
      else end();
    },
  };
}

const refusalOf = (code: string | undefined): Refusal =>
  code === "HPE_HEADER_OVERFLOW"
    ? refuse("headers_too_large")
    : refuse("invalid_body", {
        message:
          code === "ERR_HTTP_REQUEST_TIMEOUT"
            ? "The request took too long to arrive."
            : "The request is not valid HTTP.",
      });

const isHead = (packet: unknown): boolean => Buffer.isBuffer(packet) && packet.subarray(0, 5).equals(HEAD);
const HEAD = Buffer.from("HEAD ");
