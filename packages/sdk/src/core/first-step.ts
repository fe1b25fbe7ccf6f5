import { refreshed } from "./conflicts/overlay.ts";
import { set, type Turn } from "./draft.ts";
import type { ClientEvent } from "./events.ts";
import type { Machine } from "./machine.ts";
import { mutated } from "./queue/writes.ts";

/**
 * The client before it knows of a disk, of other tabs and of a server: it shows what the app writes, and remembers what it
 * was told to do. What works with those is loaded behind the page, and brings the whole client with it (`step`).
 */
export const firstMachine: Machine = {
  step(state, event) {
    const turn: Turn = {
      state: { ...state, touched: [], appended: [] },
      effects: [],
      now: event.now,
      roll: event.roll,
    };
    hear(turn, event);
    return [refreshed(turn.state, state), turn.effects];
  },
  // It waits for nothing.
  nextDueAt: () => undefined,
};

function hear(turn: Turn, event: ClientEvent): void {
  switch (event.type) {
    case "mutated":
      return mutated(turn, event);
    case "paused":
      return set(turn, { paused: true });
    case "resumed":
      return set(turn, { paused: false });
    case "followed":
      return set(turn, { scope: event.scope });
    case "lineWanted":
      return set(turn, { tabs: { ...turn.state.tabs, ownLine: true } });
    case "partMissing":
      return set(turn, { trouble: event.reason });
  }
}
