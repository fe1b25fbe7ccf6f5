import type { Worker } from "./worker.ts";

/** Saves usage counts at an interval, and once more at the stop. */
export function startUsageWriter(
  flush: () => Promise<void>,
  everyMs: number,
  failed: (error: unknown) => void,
): Worker {
  const timer = setInterval(() => void flush().catch(failed), everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await flush().catch(failed);
    },
  };
}
