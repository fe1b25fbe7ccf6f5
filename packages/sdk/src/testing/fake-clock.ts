import type { Clock } from "../engine/ports.ts";

export interface FakeClock extends Clock {
  /** Moves time forward, and fires the timers that become due, in order. */
  advance(ms: number): void;
  /** The device sleeps: the wall clock moves on, while the monotonic clock and all timers stand still. */
  sleep(ms: number): void;
  /** The number of pending timers. 0 after everything was closed. */
  readonly waiting: number;
}

/** A clock that moves only when a test calls `advance`. */
export function fakeClock(startAt = Date.UTC(2030, 0, 1)): FakeClock {
  // Timers use the monotonic clock. The wall clock also counts the time asleep.
  let now = 0;
  let wall = startAt;
  const alarms = new Set<{ at: number; then: () => void }>();
  return {
    now: () => wall + now,
    monotonic: () => now,
    wait(ms, then) {
      const alarm = { at: now + ms, then };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const [next] = [...alarms].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
        if (!next) break;
        alarms.delete(next);
        now = Math.max(now, next.at);
        next.then();
      }
      now = until;
    },
    sleep(ms) {
      wall += ms;
    },
    get waiting() {
      return alarms.size;
    },
  };
}
