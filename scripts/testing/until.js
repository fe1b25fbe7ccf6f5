import { vi } from "vitest";

/** Ends what hangs, and nothing else: no test depends on its length. */
const PATIENCE_MS = 60_000;
/**
 * Waits until `check` neither throws nor returns false, and returns what it returned. If a test has fake timers, they
 * advance meanwhile.
 */
export function until(check) {
  return vi.waitFor(
    async () => {
      const result = await check();
      if (result === false) throw new Error(`This did not become true: ${check}`);
      return result;
    },
    { timeout: PATIENCE_MS, interval: 20 },
  );
}
//# sourceMappingURL=until.js.map
