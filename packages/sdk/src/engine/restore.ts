import type { Engine } from "./engine.ts";
import type { Dice, Signals, Storage, Tabs } from "./ports.ts";

/** What happens first: the local store is read, then the client joins the other tabs and listens to the platform. */
export async function restore(given: {
  storage: Storage;
  tabs: Tabs;
  signals: Signals;
  dice: Dice;
  engine: Engine;
  clientId: string | undefined;
}): Promise<void> {
  const { storage, tabs, signals, dice, engine } = given;
  // A name that the app gave is used as it is; one that was made stays with the store.
  const stored = await storage.open(given.clientId ?? dice.id());
  engine.dispatch({ type: "restored", ...stored, clientId: given.clientId ?? stored.clientId });
  signals.start({
    network: (up) => engine.dispatch({ type: "network", up }),
    woke: () => engine.dispatch({ type: "woke" }),
    hidden: () => engine.dispatch({ type: "hidden" }),
  });
  tabs.start({
    lead: () => engine.dispatch({ type: "leads" }),
    deposed: () => engine.dispatch({ type: "deposed" }),
    heard: (message) => {
      // An answer to a request of another tab is no answer to one of ours.
      if (message.type === "answered") engine.dispatch({ ...message, request: -1 });
      // Whoever lost the disk shares no places with the others any more.
      else if (engine.store.getState().storageTrouble === undefined) engine.dispatch(message);
    },
  });
  tabs.post({ type: "joined" });
  const { paused, storageTrouble } = engine.store.getState();
  if (!paused && storageTrouble === undefined) tabs.stand(true);
}
