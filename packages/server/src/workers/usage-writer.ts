import type { Worker } from "./pruner.ts";

/** Writes down what was counted every so often, and a last time when it is stopped. */
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
