import type { Worker } from "./worker.ts";

export interface Indexer extends Worker {
  /** There may be work to do now. */
  wake(): void;
}

export interface IndexerTimes {
  /** The interval after a run that found everything in order: another process may have left something undone. */
  readonly everyMs: number;
  /** The delay while another process does the work. */
  readonly busyMs: number;
  readonly failedMs: number;
}

/** Runs `reconcile` from the start on, never concurrently. It returns whether it could do its work. */
export function startIndexer(
  reconcile: (signal: AbortSignal) => Promise<boolean>,
  { everyMs, busyMs, failedMs }: IndexerTimes,
  failed: (error: unknown) => void,
): Indexer {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let woken = false;
  let timer: NodeJS.Timeout | undefined;

  async function run(): Promise<void> {
    let restMs = everyMs;
    do {
      woken = false;
      restMs = await reconcile(stopping.signal).then(
        (done) => (done ? everyMs : busyMs),
        (error: unknown) => {
          if (!stopping.signal.aborted) failed(error);
          return failedMs;
        },
      );
    } while (woken && !stopping.signal.aborted);
    running = undefined;
    if (!stopping.signal.aborted) timer = setTimeout(wake, restMs).unref();
  }

  function wake(): void {
    woken = true;
    clearTimeout(timer);
    if (!stopping.signal.aborted) running ??= run();
  }

  wake();
  return {
    wake,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
