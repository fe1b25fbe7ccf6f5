import { closeCodes, limits } from "@holdfast/sdk/protocol";
import type { WebSocket } from "ws";
import { newId } from "../../ids.ts";
import type { Refusal } from "../../kernel/refusal.ts";
import { type DocUrl, envelopeOf } from "../envelope/envelope.ts";

/** Writes frames to a socket and closes it. Disconnects a client that reads too slowly. */
export interface SocketWriter {
  send(frame: object | string): void;
  /** Sends news. Disconnects the client if too much is unsent. */
  notify(frame: string | Buffer): void;
  /** Like `notify`, for bytes, with a callback once they are written. */
  pass(frame: Buffer, written: () => void): void;
  /** Sends one of many pages. Resolves when it is written. */
  write(frame: Buffer): Promise<void>;
  close(code: number, reason: string): void;
  /** Sends the error, then closes. */
  fail(refusal: Refusal, code: number): void;
  /** Called every few seconds: disconnects a client that has read too little for too long. Returns whether it did. */
  closeIfStuck(): boolean;
}

export interface SocketWriterOptions {
  readonly docUrl: DocUrl;
  now(): number;
  /** Unsent bytes that do not count towards a slow reader. */
  excused(): number;
  /** Called when it closes. */
  closing(): void;
}

export function createSocketWriter(
  socket: WebSocket,
  { docUrl, now, excused, closing }: SocketWriterOptions,
): SocketWriter {
  let slowSince: number | undefined;

  function send(frame: object | string): void {
    if (socket.readyState === socket.OPEN) socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  function close(code: number, reason: string): void {
    closing();
    socket.close(code, reason);
    // Do not wait for a peer that does not answer the close.
    setTimeout(() => socket.terminate(), 2_000).unref();
  }

  const disconnect = () => close(closeCodes.slowReader, "reads too slowly");

  function closeIfSlow(): void {
    if (socket.bufferedAmount - excused() > limits.slowReaderBytes) disconnect();
  }

  return {
    send,
    notify(frame) {
      if (socket.readyState === socket.OPEN) socket.send(frame, { binary: false });
      closeIfSlow();
    },
    pass(frame, written) {
      if (socket.readyState === socket.OPEN) socket.send(frame, { binary: false }, written);
      closeIfSlow();
    },
    write: (frame) => new Promise((resolve) => socket.send(frame, { binary: false }, () => resolve())),
    close,
    fail(refusal, code) {
      send({ frame: "error", ...envelopeOf(refusal, newId("req_"), docUrl) });
      close(code, refusal.code);
    },
    closeIfStuck() {
      slowSince = socket.bufferedAmount < limits.frameBytes ? undefined : (slowSince ?? now());
      const isStuck = slowSince !== undefined && now() - slowSince > limits.slowReaderMs;
      if (isStuck) disconnect();
      return isStuck;
    },
  };
}
