import type { Effect } from "../core/effects.ts";
import type { Happening } from "../core/events.ts";
import { firstMachine } from "../core/first-step.ts";
import type { Machine } from "../core/machine.ts";
import type { ClientState } from "../core/state.ts";
import { createEventLoop, type EventLoop } from "./event-loop.ts";
import type { Clock, Random } from "./ports.ts";

/** The client's event loop. */
export interface Engine extends EventLoop<ClientState, Happening> {
  /** Replaces the first state machine by the complete one, and performs effects from now on. */
  become(machine: Machine, perform: Perform): void;
}

export type Perform = (effect: Effect, state: ClientState) => void;

/** The two clocks never differ by exactly as much as before. */
const SET_BACK_MS = 1_000;

export function createEngine(initial: ClientState, clock: Clock, random: Random): Engine {
  let machine = firstMachine;
  let perform: Perform = () => {};
  const offset = () => clock.now() - clock.monotonic();
  let ahead = offset();
  let last = ahead;

  /**
   * Wall-clock time that is never set back, so that a wait does not grow longer. What the wall clock gains after it was
   * set back counts in full: it may be a sleep.
   */
  function time(): number {
    const now = offset();
    ahead += Math.max(0, now - last);
    if (now > last || last - now > SET_BACK_MS) last = now;
    return ahead + clock.monotonic();
  }

  const loop = createEventLoop<ClientState, Happening, Effect, number>({
    initial,
    step: (state, event, now) =>
      machine.step(state, { ...event, now, wall: clock.now(), lived: clock.monotonic(), roll: random.roll() }),
    perform: (effect, state) => perform(effect, state),
    // The timer decides that the event is due, even if the wall clock was set back meanwhile.
    timeOf: (event) => (event.type === "due" ? Math.max(event.at, time()) : time()),
    dueAt: (state, now) => machine.nextDueAt(state, now),
    due: (at) => ({ type: "due", at }),
    waitUntil: (at, then) => clock.wait(Math.max(0, at - time()), then),
  });
  return {
    ...loop,
    become(nextMachine, nextPerform) {
      machine = nextMachine;
      perform = nextPerform;
    },
  };
}
