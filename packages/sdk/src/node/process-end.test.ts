import { expect, test } from "vitest";
import { fallsSilent, greets, staysFor } from "./testing/closing-process.ts";

test.each([
  ["is live", greets],
  ["has fallen silent, and does not answer the close handshake", fallsSilent],
])("[N8] a process ends by itself after close while its stream %s", async (_, upgrade) => {
  // How soon, the soak test says.
  expect(await staysFor(upgrade)).toBeGreaterThan(0);
});
