import { queueNumbersOf } from "../core/queue/shared-queue.ts";
import { adapted, shownAs } from "../core/schema/upcast.ts";
import type { Engine } from "./engine.ts";
import type { EvictionMarker, Random, Signals, Storage, Tabs } from "./ports.ts";

/** The start of a client: it reads the local store, joins the other tabs and listens to the platform. */
export async function restore(given: {
  storage: Storage;
  tabs: Tabs;
  signals: Signals;
  random: Random;
  engine: Engine;
  clientId: string | undefined;
  evictionMarker: EvictionMarker | undefined;
}): Promise<void> {
  const { storage, tabs, signals, random, engine } = given;
  // The generated client id stays with the store and names it, also if the app gives the client another one.
  const fresh = random.id();
  const stored = await storage.open(fresh);
  const storeId = stored.clientId;
  const clientId = given.clientId ?? storeId;
  // Before any connection: if the platform reports no network, do not start one.
  signals.start({
    network: (up) => engine.dispatch({ type: "network", up }),
    woke: () => engine.dispatch({ type: "woke" }),
    hidden: () => engine.dispatch({ type: "hidden" }),
  });
  engine.dispatch((state) => {
    const now = { ...state, clientId, rows: stored.rows };
    return {
      type: "restored",
      ...stored,
      clientId,
      storeId,
      mutations: stored.mutations.map((m) => shownAs(adapted(m, now), m)),
    };
  });
  // The store is new although the marker names an earlier one: the writes queued in that one are lost.
  const note = given.evictionMarker?.read();
  const isNew = storeId === fresh && stored.rows.position === undefined && stored.mutations.length === 0;
  if (note && note.pending > 0 && isNew && engine.store.getState().storageTrouble === undefined)
    engine.dispatch({ type: "storeLost", pending: note.pending, notedAt: note.notedAt });
  tabs.start({
    lead: () => engine.dispatch({ type: "elected" }),
    fenced: () => engine.dispatch({ type: "fenced" }),
    received: (message) => {
      // A tab may not have noticed yet that its store was cleared.
      if (message.storeId !== undefined && message.storeId !== storeId) return;
      // A response to another tab's request must not match a request of this tab.
      if (message.type === "answered") engine.dispatch({ ...message, request: -1 });
      // A tab that lost the disk shares no slots with the others any more.
      else if (engine.store.getState().storageTrouble === undefined) engine.dispatch(message);
    },
  });
  const { scope } = engine.store.getState();
  if (scope.models || scope.groups || scope.where) tabs.post({ type: "scope", scope, storeId });
  tabs.post({ type: "joined", ...queueNumbersOf(engine.store.getState()), storeId });
  const { paused, storageTrouble } = engine.store.getState();
  if (!paused && storageTrouble === undefined) tabs.campaign(true);
}
