import type { Duplex } from "node:stream";
import { headers } from "@holdfast/sdk/protocol";
import { newId } from "../ids.ts";
import type { Refusal } from "../rules/refusal.ts";
import { type DocUrl, envelopeText, statusOf } from "./envelope.ts";

/**
 * Refuses on a bare connection, where there is no reply to send with: an envelope all the same, but for a HEAD, and the
 * connection ends.
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
  // Who is gone before it is written is not missed.
  socket.on("error", () => {});
  socket.end(`${lines.join("\r\n")}\r\n\r\n${isHead ? "" : body}`);
}
