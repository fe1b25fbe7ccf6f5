import type { Worker } from "./pruner.ts";

/** Does what is due, and says in how many milliseconds something is due again; undefined: nothing is known to be. */
export type KeepClaims = () => Promise<number | undefined>;

/** What ends is ended about when it is due: sooner than this nobody looks again, and later than that neither. */
const SOONEST_MS = 20;
const LATEST_MS = 1_000;

/** Ends leases that are over and hands them on, in every process: whichever comes first does it. */
export function startClaimKeeper(keep: KeepClaims, failed: (error: unknown) => void): Worker {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    const due = await keep().catch((error: unknown) => {
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
