import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Peer } from "../../protocol/presence/presence.ts";
import type { PresenceFrame } from "../../protocol/stream/frames-down.ts";
import type { FrameUp } from "../../protocol/stream/frames-up.ts";
import type { Failure } from "../queue/failure.ts";

/*
 * The phases of a room:
 *
 * outside ── a user enters ──► entering ── first frame: all participants ──► inside
 *    ▲                            ▲                                          │
 *    └── the last user leaves     └── new connection ◄── connection lost ────┘   peers stay for a moment, then go
 */

export interface Room {
  /** Uses of the room in the app. The client leaves the room a moment after the last one. */
  readonly uses: number;
  readonly state: JsonObject;
  /** On the present connection: not entered, entered but not answered yet, or inside. */
  readonly phase: "outside" | "entering" | "inside";
  /** The earliest time to send this client's state; undefined: nothing to send. */
  readonly sendAt: number | undefined;
  readonly leaveAt: number | undefined;
  /** By participant, in the order in which they entered. */
  readonly peers: ReadonlyMap<string, Peer>;
  /** While the connection is lost: when to stop showing the peers. */
  readonly dropAt: number | undefined;
  /** The server's refusal to let this token in, and its time. */
  readonly denied: Failure | undefined;
  readonly deniedAt: number;
}

export type Rooms = ReadonlyMap<string, Room>;

export interface PresenceState {
  readonly rooms: Rooms;
  /** When the last frame was sent. The server limits the frames per second of a connection. */
  readonly sentAt: number;
}

export const noPresence: PresenceState = { rooms: new Map(), sentAt: Number.NEGATIVE_INFINITY };

const PACE_MS = 1_000 / limits.presencePerSecond;
/** A view that unmounts often mounts again at once: other participants should not see this one flicker. */
const LINGER_MS = 250;
/**
 * The token may have changed meanwhile. Do not try with every view that opens, because each refusal closes the
 * connection.
 */
const DENIED_MS = 60_000;

/** The app enters a room. All uses in this client count as one member for others. */
export function onEntered(presence: PresenceState, name: string, now: number): PresenceState {
  const room = presence.rooms.get(name) ?? NEW_ROOM;
  const sendAt = room.phase === "outside" ? now : room.sendAt;
  const uses = room.uses + 1;
  const denied = now - room.deniedAt < DENIED_MS ? room.denied : undefined;
  return withRoom(presence, name, { ...room, uses, sendAt, leaveAt: undefined, denied });
}

/** Sets this client's state in the room, which replaces the previous one. */
export function onStated(presence: PresenceState, name: string, state: JsonObject, now: number): PresenceState {
  const room = presence.rooms.get(name);
  return room ? withRoom(presence, name, { ...room, state, sendAt: room.sendAt ?? now }) : presence;
}

export function onLeftRoom(presence: PresenceState, name: string, now: number): PresenceState {
  const room = presence.rooms.get(name);
  if (!room) return presence;
  const uses = room.uses - 1;
  return withRoom(presence, name, { ...room, uses, leaveAt: uses === 0 ? now + LINGER_MS : undefined });
}

/** A new connection has no rooms: enter again with the last state. */
export function onConnected(presence: PresenceState, now: number): PresenceState {
  return eachRoom(presence, (room) => (room.denied ? room : { ...room, phase: "outside", sendAt: now }));
}

/** Keeps the peers for a moment, so that a short disconnection does not make them flicker, and then removes them. */
export function onDisconnected(presence: PresenceState, now: number): PresenceState {
  return eachRoom(presence, (room) => {
    const dropAt = room.peers.size > 0 ? (room.dropAt ?? now + limits.presenceGraceMs) : undefined;
    return { ...room, phase: "outside", sendAt: undefined, dropAt };
  });
}

/**
 * The server closes a connection that requests a room out of the token's reach; requesting it again would close the
 * next one too. The server names the room, except for an invalid name or one room too many. Then it is one of those
 * being entered.
 */
export function onRoomDenied(presence: PresenceState, failure: Failure, now: number): PresenceState {
  const named = failure.requiredCapability?.syncGroup;
  const isNamed = named !== undefined && presence.rooms.has(named);
  return eachRoom(presence, (room, name) =>
    (isNamed ? name === named : room.phase === "entering") ? { ...room, denied: failure, deniedAt: now } : room,
  );
}

export function onPresenceFrame(
  presence: PresenceState,
  { room: name, joined, updated, left }: PresenceFrame,
  me: string | undefined,
): PresenceState {
  const room = presence.rooms.get(name);
  if (!room || room.phase === "outside") return presence;
  // The first frame contains all participants, including this one; later frames contain changes. A frame that was in
  // flight while the room was left and entered again is neither.
  if (room.phase === "entering" && !joined.some(({ participant }) => participant === me)) return presence;
  const peers = new Map(room.phase === "entering" ? [] : room.peers);
  for (const participant of left) peers.delete(participant);
  for (const peer of [...joined, ...updated]) peers.set(peer.participant, peer);
  return withRoom(presence, name, { ...room, phase: "inside", peers, dropAt: undefined });
}

/** Sends the frames that are due and removes what has expired. */
export function presenceDue(
  before: PresenceState,
  live: boolean,
  now: number,
): { presence: PresenceState; frames: FrameUp[] } {
  let presence = before;
  const frames: FrameUp[] = [];
  for (const [name, room] of before.rooms) {
    if (room.leaveAt !== undefined && room.leaveAt <= now && room.denied) {
      // Keep the state, so that the next use of the room still has it.
      presence = withRoom(presence, name, { ...room, leaveAt: undefined });
    } else if (room.leaveAt !== undefined && room.leaveAt <= now) {
      if (live && room.phase !== "outside") frames.push({ frame: "presence", room: name, state: null });
      const rooms = new Map(presence.rooms);
      rooms.delete(name);
      presence = { ...presence, rooms };
      continue;
    }
    if (room.dropAt !== undefined && room.dropAt <= now)
      presence = withRoom(presence, name, { ...room, peers: new Map(), dropAt: undefined });
    const next = presence.rooms.get(name) ?? room;
    if (!live || next.sendAt === undefined || next.denied || next.uses === 0) continue;
    if (next.sendAt > now || now < presence.sentAt + PACE_MS) continue;
    frames.push({ frame: "presence", room: name, state: next.state });
    const phase = next.phase === "outside" ? "entering" : next.phase;
    presence = { ...withRoom(presence, name, { ...next, phase, sendAt: undefined }), sentAt: now };
  }
  return { presence, frames };
}

/** Leaves all rooms when the client closes, so that others need not wait until its connection times out. */
export const leaveFrames = ({ rooms }: PresenceState): FrameUp[] =>
  [...rooms].filter(([, room]) => room.phase !== "outside").map(([room]) => ({ frame: "presence", room, state: null }));

export function presenceDueAt({ rooms, sentAt }: PresenceState, live: boolean): readonly (number | undefined)[] {
  return [...rooms.values()].flatMap((room) => [
    room.leaveAt,
    room.dropAt,
    live && !room.denied && room.uses > 0 && room.sendAt !== undefined
      ? Math.max(room.sendAt, sentAt + PACE_MS)
      : undefined,
  ]);
}

const NEW_ROOM: Room = {
  uses: 0,
  state: {},
  phase: "outside",
  sendAt: undefined,
  leaveAt: undefined,
  peers: new Map(),
  dropAt: undefined,
  denied: undefined,
  deniedAt: Number.NEGATIVE_INFINITY,
};

const withRoom = (presence: PresenceState, name: string, room: Room): PresenceState => ({
  ...presence,
  rooms: new Map(presence.rooms).set(name, room),
});

const eachRoom = (presence: PresenceState, change: (room: Room, name: string) => Room): PresenceState => ({
  ...presence,
  rooms: new Map([...presence.rooms].map(([name, room]) => [name, change(room, name)])),
});
