import type { Worker } from "./worker.ts";

/** Prunes some time after the start, then at an interval, never concurrently. */
export function startPruner(prune: () => Promise<unknown>, everyMs: number, failed: (error: unknown) => void): Worker {
  let running: Promise<unknown> | undefined;
  const run = () => {
    running ??= prune()
      .catch(failed)
      .finally(() => {
        running = undefined;
      });
  };
  const first = setTimeout(run, Math.min(everyMs, FIRST_MS)).unref();
  const timer = setInterval(run, everyMs).unref();
  return {
    async stop() {
      clearTimeout(first);
      clearInterval(timer);
      await running;
    },
  };
}

/** Right after its start, a server has more urgent work. */
const FIRST_MS = 60_000;
