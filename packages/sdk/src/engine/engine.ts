import { createStore, type StoreApi } from "zustand/vanilla";
import type { Effect } from "../core/effects.ts";
import type { Happening } from "../core/events.ts";
import { firstMachine } from "../core/first-step.ts";
import type { Machine } from "../core/machine.ts";
import type { ClientState } from "../core/state.ts";
import type { Clock, Random } from "./ports.ts";

export interface Engine {
  readonly store: StoreApi<ClientState>;
  /** Dispatches an event. A function is called with the state when its event is handled. */
  dispatch(happening: Happening | ((state: ClientState) => Happening)): void;
  /** Replaces the state machine. */
  become(machine: Machine): void;
  /** Notifies of every event after the engine has handled it. Returns a function that unsubscribes. */
  listen(listener: (happening: Happening) => void): () => void;
  close(): void;
}

/**
 * The event loop, and the only writer of state: event → the machine's step → publish → perform. Events that arrive
 * during a step are queued, so that no event sees a half-applied state.
 */
export function createEngine(given: {
  initial: ClientState;
  clock: Clock;
  random: Random;
  perform: (effect: Effect, state: ClientState) => void;
}): Engine {
  const { clock, random, perform } = given;
  const store = createStore<ClientState>(() => given.initial);
  const listeners = new Set<(happening: Happening) => void>();
  const waiting: (Happening | ((state: ClientState) => Happening))[] = [];
  let machine = firstMachine;
  let busy = false;
  let now = 0;
  let ahead = Number.NEGATIVE_INFINITY;
  let closed = false;
  let alarm: { at: number; off: () => void } | undefined;

  function dispatch(happening: Happening | ((state: ClientState) => Happening)): void {
    if (closed) return;
    waiting.push(happening);
    if (busy) return;
    busy = true;
    try {
      for (let next = waiting.shift(); next; next = waiting.shift())
        hear(typeof next === "function" ? next(store.getState()) : next);
    } finally {
      busy = false;
    }
    setAlarm();
  }

  function hear(happening: Happening): void {
    now = nowFor(happening);
    const [state, effects] = machine.step(store.getState(), { ...happening, now, roll: random.roll() });
    store.setState(state, true);
    for (const effect of effects) perform(effect, state);
    for (const listener of listeners) listener(happening);
  }

  const nowFor = (happening: Happening) => (happening.type === "due" ? Math.max(happening.at, time()) : time());

  /** Wall-clock time that is never set back, so that a wait does not grow longer. */
  function time(): number {
    ahead = Math.max(ahead, clock.now() - clock.monotonic());
    return ahead + clock.monotonic();
  }

  /** One timer for everything that is due later. */
  function setAlarm(): void {
    const at = closed ? undefined : machine.nextDueAt(store.getState(), now);
    if (alarm?.at === at) return;
    alarm?.off();
    alarm = undefined;
    if (at === undefined) return;
    const off = clock.wait(Math.max(0, at - time()), () => {
      alarm = undefined;
      // The timer decides that the event is due, even if the wall clock was set back meanwhile.
      dispatch({ type: "due", at });
    });
    alarm = { at, off };
  }

  return {
    store,
    dispatch,
    become: (next) => {
      machine = next;
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      closed = true;
      alarm?.off();
      alarm = undefined;
    },
  };
}
