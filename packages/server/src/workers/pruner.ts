/** Something that is done again and again while the server runs. */
export interface Worker {
  /** Waits for what it is doing just now. */
  stop(): Promise<void>;
}

/** Prunes soon after the start and then every so often, never twice at a time. */
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

/** A server that was just started has more urgent things to do. */
const FIRST_MS = 60_000;
