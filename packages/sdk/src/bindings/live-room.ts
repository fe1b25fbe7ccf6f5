import type { Presence, RoomPeer } from "../api/presence/presence-api.ts";
import type { SyncClient } from "../api/sync-client.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { LiveValue } from "./live-value.ts";

/** A state, or what makes it of the one before. */
export type NextState = JsonObject | ((before: JsonObject) => JsonObject);

/** A room that the client is in as long as a component shows one of these values. */
export interface LiveRoom {
  /** This client's own state. */
  readonly state: LiveValue<JsonObject>;
  /** The other participants, each listed once. */
  readonly others: LiveValue<readonly RoomPeer[]>;
  /** Replaces the own state, as long as a component shows it. A call after that does not enter the room again. */
  set(next: NextState): void;
}

/** `initial`: the own state, once a component shows it. */
export function liveRoom<S extends ModelSchema>(client: SyncClient<S>, name: string, initial?: JsonObject): LiveRoom {
  const room: Presence = client.presence(name);
  let users = 0;
  const set = (next: NextState) => {
    if (users > 0) room.set(typeof next === "function" ? next(room.state()) : next);
  };
  const inRoom = (listener: () => void, state?: JsonObject) => {
    const unsubscribe = room.subscribe(listener);
    users += 1;
    if (state) set(state);
    return () => {
      unsubscribe();
      users -= 1;
      if (users === 0) room.leave();
    };
  };
  return {
    state: { read: room.state, subscribe: (listener) => inRoom(listener, initial) },
    others: { read: room.others, subscribe: (listener) => inRoom(listener) },
    set,
  };
}
