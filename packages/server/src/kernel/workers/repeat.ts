import type { Worker } from "./worker.ts";

/** Does what is due. Returns the milliseconds until the next time, or undefined if none is known. */
export type DueWork = () => Promise<number | undefined>;

/** Bounds of the delay until the next check. */
const SOONEST_MS = 20;
const LATEST_MS = 1_000;

/** Repeats work whenever it is due, never concurrently. Runs in every process; the first one to act wins. */
export function startRepeating(work: DueWork, failed: (error: unknown) => void): Worker {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    const due = await work().catch((error: unknown) => {
      failed(error);
      return undefined;
    });
    if (!stopped) sleep(due ?? LATEST_MS);
  }

  const sleep = (ms: number) => {
    timer = setTimeout(
      () => {
        running = run();
      },
      Math.min(Math.max(ms, SOONEST_MS), LATEST_MS),
    ).unref();
  };

  sleep(0);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
