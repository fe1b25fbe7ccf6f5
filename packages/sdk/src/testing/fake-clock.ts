import type { Clock } from "../engine/ports.ts";

export interface FakeClock extends Clock {
  /** Moves time on, and calls what became due on the way, in order. */
  advance(ms: number): void;
  /** How many are waiting: none when everything was closed. */
  readonly waiting: number;
}

/** Time that moves when told. */
export function fakeClock(startAt = Date.UTC(2030, 0, 1)): FakeClock {
  let now = startAt;
  const alarms = new Set<{ at: number; then: () => void }>();
  return {
    now: () => now,
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
    get waiting() {
      return alarms.size;
    },
  };
}
