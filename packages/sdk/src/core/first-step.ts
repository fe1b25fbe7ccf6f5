import { withAppended } from "./conflicts/overlay.ts";
import { type Draft, draftOf, set } from "./draft.ts";
import type { ClientEvent } from "./events.ts";
import type { Machine } from "./machine.ts";
import { newWrite, show } from "./queue/new-write.ts";
import type { ReplicaState, SessionState, TabsState } from "./state.ts";

/**
 * The client before the runtime is loaded, without disk, tabs and server. It shows the app's writes and remembers the
 * calls that it received. The runtime is loaded in the background and brings the complete client (`step`).
 */
export const firstMachine: Machine = {
  step(state, event) {
    const draft = draftOf(state, event);
    applyEvent(draft, event);
    return [withAppended(draft.state, new Set()), draft.effects];
  },
  // Nothing is due before the runtime is loaded.
  nextDueAt: () => undefined,
};

function applyEvent(draft: Draft, event: ClientEvent): void {
  switch (event.type) {
    case "mutated":
      return show(draft, [newWrite(draft, event)]);
    case "paused":
      return set<SessionState>(draft, { paused: true });
    case "resumed":
      return set<SessionState>(draft, { paused: false });
    case "followed":
      return set<ReplicaState>(draft, { scope: event.scope, followed: event.followed });
    case "connectionWanted":
      return set<TabsState>(draft, { tabs: { ...draft.state.tabs, ownSocket: true } });
    case "chunkMissing":
      return set<SessionState>(draft, { trouble: event.reason });
  }
}
