import { odd } from "../../errors.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Collab } from "../claims/collab.ts";
import { type Lazy, use } from "../lazy.ts";
import { objectCopy } from "../writes/payload.ts";
import type { Presence } from "./presence-api.ts";
import type { RoomUse, ShownRoom } from "./presence-rooms.ts";

const NOT_YET: Omit<ShownRoom, "state"> = {
  peers: [],
  others: [],
  self: undefined,
  status: "connecting",
  error: undefined,
};

/** `client.presence(room)`. Its code is loaded when the room is entered. */
export function presenceIn(collab: Lazy<Collab>, name: string): Presence {
  let room: RoomUse | undefined;
  let state: JsonObject = {};
  let cancel = () => {};
  const roomOf = (made: Collab): RoomUse => {
    room ??= made.room(name);
    return room;
  };
  const shown = (): ShownRoom => {
    const made = collab.now();
    return made ? roomOf(made).shown() : { ...NOT_YET, state };
  };
  return {
    room: name,
    set(next) {
      state = checkedState(next);
      cancel();
      cancel = use(collab, (made) => {
        roomOf(made).set(state);
        return () => {};
      });
    },
    state: () => shown().state,
    peers: () => shown().peers,
    others: () => shown().others,
    self: () => shown().self,
    status: () => shown().status,
    error: () => shown().error,
    subscribe: (listener) => use(collab, (made) => roomOf(made).subscribe(listener)),
    leave() {
      cancel();
      room?.leave();
    },
  };
}

function checkedState(given: JsonObject): JsonObject {
  const state = objectCopy(given, "state");
  if (new TextEncoder().encode(JSON.stringify(state)).length > limits.presenceStateBytes)
    throw odd("state", "The presence state is larger than 4 KiB.");
  return state;
}
