import type { Effect } from "./effects.ts";
import type { ClientEvent } from "./events.ts";
import type { ClientState } from "./state.ts";

/** The client as pure functions: from a state and an event to the next state and the effects to perform. */
export interface Machine {
  step(state: ClientState, event: ClientEvent): readonly [ClientState, readonly Effect[]];
  /** When a `due` event is needed if no other event arrives. */
  nextDueAt(state: ClientState, now: number): number | undefined;
}
