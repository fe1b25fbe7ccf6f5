import type { Engine } from "./engine/engine.ts";
import type { Clock } from "./engine/ports.ts";
import type { Leaving, Runtime } from "./runtime.ts";

const AGAIN_MS = 3_000;

export interface RuntimeLater {
  now(): Runtime | undefined;
  readonly there: Promise<Runtime>;
  close(farewell: Promise<void>, why: Leaving): Promise<void>;
}

/**
 * Loads the part that works with the world, and tries again until it is there: until then what the app writes is
 * shown and promised to nobody.
 */
export function runtimeLater(load: () => Promise<() => Runtime>, engine: Engine, clock: Clock): RuntimeLater {
  let runtime: Runtime | undefined;
  let isClosed = false;
  let calledOff = () => {};
  let arrive: (runtime: Runtime) => void = () => {};
  const there = new Promise<Runtime>((resolve) => {
    arrive = resolve;
  });

  /** The attempt that is under way, or the last one. */
  let attempted = Promise.resolve();
  function attempt(): void {
    attempted = load().then(
      (open) => {
        runtime = open();
        arrive(runtime);
      },
      (error: unknown) => {
        engine.dispatch({ type: "runtimeMissing", reason: `A chunk of the app could not be loaded: ${String(error)}` });
        if (!isClosed) calledOff = clock.wait(AGAIN_MS, attempt);
      },
    );
  }

  attempt();
  return {
    now: () => runtime,
    there,
    async close(farewell, why) {
      isClosed = true;
      calledOff();
      // One that is about to come is still opened: what the app has written goes to the disk.
      await attempted;
      await runtime?.close(farewell, why);
    },
  };
}
