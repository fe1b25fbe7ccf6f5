import type { Effect } from "./effects.ts";
import type { ClientEvent } from "./events.ts";
import type { ClientState } from "./state.ts";

/** The client as functions: what it believes, and what happened, give what it believes now and what it asks of the world. */
export interface Machine {
  step(state: ClientState, event: ClientEvent): readonly [ClientState, readonly Effect[]];
  /** When it is to be told that time has passed, although nothing else happens. */
  nextDueAt(state: ClientState, now: number): number | undefined;
}
