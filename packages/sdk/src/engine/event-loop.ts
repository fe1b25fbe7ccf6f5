import { createStore, type StoreApi } from "zustand/vanilla";

/*
 * Runs a pure state machine, and is the only writer of its state:
 *
 *   event ─► step ─► publish the new state ─► perform the effects ─► notify the listeners of the event
 *     ▲                                              │
 *     └────────── responses, timers, the app ◄───────┘
 *
 * Events that arrive meanwhile wait in a queue, so that no event sees a half-applied state. One timer serves everything
 * that is due later: it is set after the last event, for the time that `dueAt` returns, and dispatches a `due` event.
 */

export interface EventLoop<State, Event> {
  readonly store: StoreApi<State>;
  /** Dispatches an event. A function is called with the state when its event is handled. */
  dispatch(event: Event | ((state: State) => Event)): void;
  /** Notifies of every event after the loop has handled it. Returns a function that unsubscribes. */
  listen(listener: (event: Event) => void): () => void;
  close(): void;
}

/** What differs between two loops. `Time` is the time of a step, on as many clocks as the state machine needs. */
export interface EventLoopDeps<State, Event, Effect, Time> {
  readonly initial: State;
  step(state: State, event: Event, time: Time): readonly [State, readonly Effect[]];
  perform(effect: Effect, state: State): void;
  /** The time at which the event is handled. */
  timeOf(event: Event): Time;
  /** When a `due` event is needed if no other event arrives. `time`: when the last step ran. */
  dueAt(state: State, time: Time): number | undefined;
  /** The event of the timer that was set for `at`. */
  due(at: number): Event;
  /** Calls back at this time. Returns a function that cancels the timer. */
  waitUntil(at: number, then: () => void): () => void;
}

export function createEventLoop<State, Event extends object, Effect, Time>(
  deps: EventLoopDeps<State, Event, Effect, Time>,
): EventLoop<State, Event> {
  const store = createStore<State>(() => deps.initial);
  const listeners = new Set<(event: Event) => void>();
  const waiting: (Event | ((state: State) => Event))[] = [];
  let isBusy = false;
  let isClosed = false;
  let steppedAt: Time;
  let alarm: { readonly at: number; readonly off: () => void } | undefined;

  function dispatch(event: Event | ((state: State) => Event)): void {
    if (isClosed) return;
    waiting.push(event);
    if (isBusy) return;
    isBusy = true;
    try {
      for (let next = waiting.shift(); next; next = waiting.shift())
        handle(typeof next === "function" ? (next as (state: State) => Event)(store.getState()) : next);
    } finally {
      isBusy = false;
    }
    setAlarm();
  }

  function handle(event: Event): void {
    steppedAt = deps.timeOf(event);
    const [state, effects] = deps.step(store.getState(), event, steppedAt);
    store.setState(state, true);
    for (const effect of effects) deps.perform(effect, state);
    for (const listener of listeners) listener(event);
  }

  /** Passes the time of the last step, because events that became due since then are still to be handled. */
  function setAlarm(): void {
    const at = isClosed ? undefined : deps.dueAt(store.getState(), steppedAt);
    if (alarm?.at === at) return;
    stopAlarm();
    if (at === undefined) return;
    const off = deps.waitUntil(at, () => {
      alarm = undefined;
      dispatch(deps.due(at));
    });
    alarm = { at, off };
  }

  function stopAlarm(): void {
    alarm?.off();
    alarm = undefined;
  }

  return {
    store,
    dispatch,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      isClosed = true;
      stopAlarm();
    },
  };
}
