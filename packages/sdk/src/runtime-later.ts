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
 * Loads the runtime and retries until it succeeds. Until then, writes of the app are only shown, and their `queued`
 * promises stay pending.
 */
export function runtimeLater(load: () => Promise<() => Runtime>, engine: Engine, clock: Clock): RuntimeLater {
  let runtime: Runtime | undefined;
  let isClosed = false;
  let calledOff = () => {};
  let arrive: (runtime: Runtime) => void = () => {};
  const there = new Promise<Runtime>((resolve) => {
    arrive = resolve;
  });

  /** The current or last attempt to load the runtime. */
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
      // If the runtime is still loading, open it, so that pending writes of the app are stored.
      await attempted;
      await runtime?.close(farewell, why);
    },
  };
}
