import type { Clock } from "../engine/ports.ts";

export interface FakeClock extends Clock {
  /** Moves time on, and calls what became due on the way, in order. */
  advance(ms: number): void;
  /** The machine sleeps: the wall's clock goes on, the other one and all timers stand still. */
  sleep(ms: number): void;
  /** How many are waiting: none when everything was closed. */
  readonly waiting: number;
}

/** Time that moves when told. */
export function fakeClock(startAt = Date.UTC(2030, 0, 1)): FakeClock {
  // Timers go by the monotonic clock; the wall's shows the same and what was slept.
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
