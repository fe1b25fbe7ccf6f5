import type { Engine } from "./engine/engine.ts";
import type { Clock } from "./engine/ports.ts";
import type { Leaving, Part } from "./runtime.ts";

const AGAIN_MS = 3_000;

export interface PartLater {
  now(): Part | undefined;
  readonly there: Promise<Part>;
  close(farewell: Promise<void>, why: Leaving): Promise<void>;
}

/**
 * Loads the part that works with the world, and tries again until it is there: until then what the app writes is
 * shown and promised to nobody.
 */
export function partLater(load: () => Promise<() => Part>, engine: Engine, clock: Clock): PartLater {
  let part: Part | undefined;
  let isClosed = false;
  let calledOff = () => {};
  let arrive: (part: Part) => void = () => {};
  const there = new Promise<Part>((resolve) => {
    arrive = resolve;
  });

  /** The attempt that is under way, or the last one. */
  let attempted = Promise.resolve();
  function attempt(): void {
    attempted = load().then(
      (open) => {
        part = open();
        arrive(part);
      },
      (error: unknown) => {
        engine.dispatch({ type: "partMissing", reason: `A part of the app could not be loaded: ${String(error)}` });
        if (!isClosed) calledOff = clock.wait(AGAIN_MS, attempt);
      },
    );
  }

  attempt();
  return {
    now: () => part,
    there,
    async close(farewell, why) {
      isClosed = true;
      calledOff();
      // One that is about to come is still opened: what the app has written goes to the disk.
      await attempted;
      await part?.close(farewell, why);
    },
  };
}
