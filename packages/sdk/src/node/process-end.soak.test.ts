import { expect, test } from "vitest";
import { fallsSilent, greets, staysFor, type Upgrade } from "./testing/closing-process.ts";

/** Above what a busy machine needs, and below the 30 s that `ws` waits for a close handshake by itself. */
const SOON_MS = 15_000;

test.each<[string, Upgrade]>([
  ["is live", greets],
  ["is never answered", () => {}],
  ["is refused", (_, socket) => void socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n")],
  ["has fallen silent, and does not answer the close handshake", fallsSilent],
])("[N8] a process ends by itself soon after close while its stream %s", async (_, upgrade) => {
  expect(await staysFor(upgrade)).toBeLessThan(SOON_MS);
});
