import type { IncomingMessage } from "node:http";

/** The most that is read of a rejected request's body, in bytes and time. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_MS = 10_000;

/** Reads and discards the rest of a body. Returns false if it was too large or too slow. */
export function drain(request: IncomingMessage): Promise<boolean> {
  if (request.complete) return Promise.resolve(true);
  return new Promise((resolve) => {
    let bytes = 0;
    const done = (whole: boolean) => {
      clearTimeout(timer);
      request.off("data", count).off("end", end).off("close", end);
      request.pause();
      resolve(whole);
    };
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) done(false);
    };
    const end = () => done(request.complete);
    const timer = setTimeout(() => done(false), MOST_MS);
    request.on("data", count).on("end", end).on("close", end).resume();
  });
}
