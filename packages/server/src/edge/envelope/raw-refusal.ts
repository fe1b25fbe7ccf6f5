import type { Duplex } from "node:stream";
import { headers } from "@holdfast/sdk/protocol";
import { newId } from "../../ids.ts";
import type { Refusal } from "../../kernel/refusal.ts";
import { type DocUrl, envelopeText, statusOf } from "./envelope.ts";

/**
 * Sends a refusal on a bare connection that has no response object, with the usual envelope (except for HEAD), and
 * closes the connection.
 */
export function endWithRefusal(socket: Duplex, refusal: Refusal, docUrl: DocUrl, isHead = false): void {
  const id = newId("req_");
  const body = envelopeText(refusal, id, docUrl);
  const lines = [
    `HTTP/1.1 ${statusOf(refusal)} Refused`,
    "content-type: application/json; charset=utf-8",
    `${headers.requestId}: ${id}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  // The client may disconnect before this is written.
  socket.on("error", () => {});
  socket.end(`${lines.join("\r\n")}\r\n\r\n${isHead ? "" : body}`);
}
