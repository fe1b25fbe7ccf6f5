import { refreshed } from "./conflicts/overlay.ts";
import { type Draft, set } from "./draft.ts";
import type { ClientEvent } from "./events.ts";
import type { Machine } from "./machine.ts";
import { onMutated } from "./queue/writes.ts";

/**
 * The client before it knows of a disk, of other tabs and of a server: it shows what the app writes, and remembers what it
 * was told to do. What works with those is loaded behind the page, and brings the whole client with it (`step`).
 */
export const firstMachine: Machine = {
  step(state, event) {
    const draft: Draft = {
      state: { ...state, touched: [], appended: [] },
      effects: [],
      now: event.now,
      roll: event.roll,
    };
    hear(draft, event);
    return [refreshed(draft.state, state), draft.effects];
  },
  // It waits for nothing.
  nextDueAt: () => undefined,
};

function hear(draft: Draft, event: ClientEvent): void {
  switch (event.type) {
    case "mutated":
      return onMutated(draft, event);
    case "paused":
      return set(draft, { paused: true });
    case "resumed":
      return set(draft, { paused: false });
    case "followed":
      return set(draft, { scope: event.scope });
    case "connectionWanted":
      return set(draft, { tabs: { ...draft.state.tabs, ownLine: true } });
    case "runtimeMissing":
      return set(draft, { trouble: event.reason });
  }
}
