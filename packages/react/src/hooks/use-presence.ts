import type { JsonObject, Presence, RoomPeer } from "@holdfast/sdk";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { IsEqual } from "../equal.ts";
import { stillClient } from "../hydration/inert-client.ts";
import { useClient } from "./use-client.ts";
import { useSource } from "./use-source.ts";

/** The room on a server: empty. */
const still = stillClient.presence("");

/** The room, as long as the component is mounted. */
function useRoom(name: string): Presence {
  const client = useClient();
  // The first listener enters the room, so a discarded render enters nothing.
  const room = useMemo(() => client.presence(name), [client, name]);
  useEffect(() => () => room.leave(), [room]);
  return room;
}

export type SetPresence = (state: JsonObject | ((before: JsonObject) => JsonObject)) => void;

/** This client's state in a room, and a function that replaces it. Others see `initial` until then. */
export function useMyPresence(name: string, initial?: JsonObject): readonly [JsonObject, SetPresence] {
  const room = useRoom(name);
  const state = useSource(room.subscribe, room.state, still.state);
  const inside = useRef<Presence | undefined>(undefined);
  const first = useRef(initial);
  useEffect(() => {
    inside.current = room;
    if (first.current) room.set(first.current);
    return () => {
      inside.current = undefined;
    };
  }, [room]);
  // A call after the component has unmounted must not enter the room again.
  const set = useCallback<SetPresence>((next) => {
    const here = inside.current;
    if (here) here.set(typeof next === "function" ? next(here.state()) : next);
  }, []);
  return [state, set];
}

/** The other participants in a room, each listed once. With `select`, only its result. */
export function useOthers<T = readonly RoomPeer[]>(
  name: string,
  select?: (others: readonly RoomPeer[]) => T,
  isEqual?: IsEqual<T>,
): T {
  const room = useRoom(name);
  return useSource(room.subscribe, room.others, still.others, select, isEqual);
}

/** This participant as the others in the room see it; undefined until the server has answered. */
export function useSelf(name: string): RoomPeer | undefined {
  const room = useRoom(name);
  return useSource(room.subscribe, room.self, still.self);
}

/** Whether a room is up to date: `live`, `connecting`, or `denied` to this token. */
export function usePresenceStatus(name: string): ReturnType<Presence["status"]> {
  const room = useRoom(name);
  return useSource(room.subscribe, room.status, still.status);
}
