import { queueNumbersOf } from "../core/queue/shared-queue.ts";
import { adapted, shownAs } from "../core/schema/upcast.ts";
import type { ChosenStore } from "./choose-store.ts";
import type { Engine } from "./engine.ts";
import type { EvictionMarker, Storage, Tabs } from "./ports.ts";
import { fromStore } from "./stored-scope.ts";

/** The start of a client whose store has been chosen: it takes what was stored, and joins the other tabs. */
export function restore(given: {
  store: ChosenStore<Storage>;
  tabs: Tabs;
  engine: Engine;
  clientId: string | undefined;
  evictionMarker: EvictionMarker | undefined;
  /** The owner that the app has named. */
  named: string | undefined;
  /** The owner of the token, if the server has named it. */
  tokenOwner: string | undefined;
  /** When it named it. */
  serverTime: string | undefined;
  areShared: boolean;
  /** What the client says of its schema. */
  schema: string;
  /** A tab with another schema shares the store. */
  otherSchema(): void;
}): void {
  const { tabs, engine, named, tokenOwner, serverTime, areShared, schema } = given;
  const { stored, isNew } = given.store;
  // The generated client id stays with the store and names it, also if the app gives the client another one.
  const storeId = stored.clientId;
  const clientId = given.clientId ?? storeId;
  engine.dispatch((state) => {
    const [rows, partial] = [fromStore(stored.rows), stored.partial && fromStore(stored.partial)];
    const now = { ...state, clientId, rows };
    return {
      type: "restored",
      ...stored,
      ...{ rows, partial, clientId, storeId, named, tokenOwner, serverTime, areShared },
      mutations: stored.mutations.map((m) => shownAs(adapted(m, now), m)),
    };
  });
  // The store is new although the marker names an earlier one: the writes queued in that one are lost.
  const note = given.evictionMarker?.read();
  const isEmpty = isNew && stored.rows.position === undefined && stored.mutations.length === 0;
  if (note && note.pending > 0 && isEmpty && engine.store.getState().storageTrouble === undefined)
    engine.dispatch({ type: "storeLost", pending: note.pending, notedAt: note.notedAt });
  tabs.start({
    lead: () => engine.dispatch({ type: "elected" }),
    fenced: () => engine.dispatch({ type: "fenced" }),
    received: (message) => {
      // A tab may not have noticed yet that its store was cleared.
      if (message.storeId !== undefined && message.storeId !== storeId) return;
      if ("schema" in message && message.schema !== undefined && message.schema !== schema) {
        given.otherSchema();
        if (message.type === "joined") tabs.post({ type: "schema", schema, storeId });
      }
      if (message.type === "schema") return;
      // A response to another tab's request must not match a request of this tab.
      if (message.type === "answered") engine.dispatch({ ...message, request: -1 });
      // A tab that lost the disk shares no slots with the others any more.
      else if (engine.store.getState().storageTrouble === undefined) engine.dispatch(message);
    },
  });
  const { scope } = engine.store.getState();
  if (scope.models || scope.groups || scope.where) tabs.post({ type: "scope", scope, storeId });
  tabs.post({ type: "joined", schema, ...queueNumbersOf(engine.store.getState()), storeId });
  const { paused, storageTrouble } = engine.store.getState();
  if (!paused && storageTrouble === undefined) tabs.campaign(true);
}
