import type { PresenceState, Room } from "../../core/presence/presence.ts";
import type { CollabEngine } from "../../engine/collab-engine.ts";
import { notifyApp, SyncError } from "../../errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Peer } from "../../protocol/presence/presence.ts";
import type { Presence, RoomPeer } from "./presence-api.ts";

/** One use of a room. */
export interface RoomUse extends Pick<Presence, "set" | "subscribe" | "leave"> {
  shown(): ShownRoom;
}

/** The results for a room, as `Presence` returns them. */
export interface ShownRoom {
  readonly state: JsonObject;
  readonly peers: readonly RoomPeer[];
  readonly others: readonly RoomPeer[];
  readonly self: RoomPeer | undefined;
  readonly status: ReturnType<Presence["status"]>;
  readonly error: SyncError | undefined;
}

/** The results, with what they were computed from. */
interface Shown extends ShownRoom {
  readonly of: Room | undefined;
  readonly live: boolean;
  readonly me: string | undefined;
}

const NOTHING: JsonObject = {};

/** Creates uses of rooms. All uses of one room share their results. */
export function roomsOn(loop: CollabEngine): (name: string) => RoomUse {
  const shown = new Map<string, Shown>();
  const peers = new WeakMap<Peer, RoomPeer>();

  function readRoom(name: string): Shown {
    const { presence, connection } = loop.state();
    const room = (presence as PresenceState).rooms.get(name);
    const before = shown.get(name);
    if (before && before.of === room && before.live === connection.live && before.me === connection.participant)
      return before;
    const known = [...(room?.peers.values() ?? [])].map(peerOf);
    const error = room?.denied && (before?.of?.denied === room.denied ? before.error : new SyncError(room.denied));
    const next: Shown = {
      of: room,
      live: connection.live,
      me: connection.participant,
      state: room?.state ?? NOTHING,
      peers: kept(before?.peers, known),
      others: kept(
        before?.others,
        known.filter((peer) => peer.participant !== connection.participant),
      ),
      self: known.find((peer) => peer.participant === connection.participant),
      status: room?.denied ? "denied" : connection.live && room?.phase === "inside" ? "live" : "connecting",
      error,
    };
    shown.set(name, next);
    return next;
  }

  function peerOf(peer: Peer): RoomPeer {
    const made = peers.get(peer) ?? { ...peer, state: peer.sessions[0]?.state ?? {} };
    peers.set(peer, made);
    return made;
  }

  return (name) => {
    let isIn = false;
    const enter = () => {
      if (isIn) return;
      isIn = true;
      loop.dispatch({ type: "entered", room: name });
    };
    const listeners = new Set<() => void>();
    let off = () => {};
    return {
      shown: () => readRoom(name),
      set(state: JsonObject) {
        enter();
        loop.dispatch({ type: "stated", room: name, state });
      },
      subscribe(listener) {
        enter();
        const own = () => notifyApp(listener);
        if (listeners.size === 0)
          off = loop.subscribe((state, before) => {
            const same =
              state.presence.rooms.get(name) === before.presence.rooms.get(name) &&
              state.connection === before.connection;
            if (!same) for (const each of [...listeners]) each();
          });
        listeners.add(own);
        return () => {
          listeners.delete(own);
          if (listeners.size === 0) off();
        };
      },
      leave() {
        if (!isIn) return;
        isIn = false;
        loop.dispatch({ type: "leftRoom", room: name });
      },
    };
  };
}

const kept = (before: readonly RoomPeer[] | undefined, now: readonly RoomPeer[]): readonly RoomPeer[] =>
  before?.length === now.length && now.every((peer, at) => peer === before[at]) ? before : now;
