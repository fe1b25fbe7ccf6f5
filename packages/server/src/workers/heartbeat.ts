import type { Worker } from "./pruner.ts";

/** Beats every so often, and skips one when the last is not over. */
export function startHeartbeat(beat: () => Promise<void>, everyMs: number, failed: (error: unknown) => void): Worker {
  let beating: Promise<void> | undefined;
  const timer = setInterval(() => {
    beating ??= beat()
      .catch(failed)
      .finally(() => {
        beating = undefined;
      });
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await beating;
    },
  };
}
