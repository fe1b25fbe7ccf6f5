import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Peer } from "../../protocol/presence/presence.ts";
import type { PresenceFrame } from "../../protocol/stream/frames-down.ts";
import type { FrameUp } from "../../protocol/stream/frames-up.ts";
import type { Failure } from "../queue/failure.ts";

/*
 *  outside ── somebody enters ──► entering ── first frame: all who are there ──► inside
 *     ▲                              ▲                                             │
 *     └── the last one leaves        └────────── a new line ◄── the line is gone ──┘   peers stand still, then go
 */

export interface Room {
  /** Those in the app who are in it; it is left a moment after the last one. */
  readonly stakes: number;
  readonly state: JsonObject;
  /** On the present line: not entered, entered without an answer yet, or inside. */
  readonly phase: "outside" | "entering" | "inside";
  /** What is to be said, and when at the earliest. */
  readonly sayAt: number | undefined;
  readonly leaveAt: number | undefined;
  /** By participant, in the order in which they came. */
  readonly peers: ReadonlyMap<string, Peer>;
  /** While the line is gone: when those who were there are no longer shown. */
  readonly dropAt: number | undefined;
  /** The server does not let this token in, and when it said so. */
  readonly denied: Failure | undefined;
  readonly deniedAt: number;
}

export type Rooms = ReadonlyMap<string, Room>;

export interface PresenceState {
  readonly rooms: Rooms;
  /** When something was said last: the server takes so many a second from one line. */
  readonly saidAt: number;
}

export const noPresence: PresenceState = { rooms: new Map(), saidAt: Number.NEGATIVE_INFINITY };

const PACE_MS = 1_000 / limits.presencePerSecond;
/** A view that is taken away is often put back in a moment: the others should not see it blink. */
const LINGER_MS = 250;
/** Another token may have come. It is not tried with every view that opens: each time costs the line. */
const DENIED_MS = 60_000;

/** Somebody in the app comes in; they all are one to the others. */
export function onEntered(presence: PresenceState, name: string, now: number): PresenceState {
  const room = presence.rooms.get(name) ?? NEW_ROOM;
  const sayAt = room.phase === "outside" ? now : room.sayAt;
  const stakes = room.stakes + 1;
  const denied = now - room.deniedAt < DENIED_MS ? room.denied : undefined;
  return withRoom(presence, name, { ...room, stakes, sayAt, leaveAt: undefined, denied });
}

/** Says something of this client; the last one counts, and replaces what was said before. */
export function onStated(presence: PresenceState, name: string, state: JsonObject, now: number): PresenceState {
  const room = presence.rooms.get(name);
  return room ? withRoom(presence, name, { ...room, state, sayAt: room.sayAt ?? now }) : presence;
}

export function onLeftRoom(presence: PresenceState, name: string, now: number): PresenceState {
  const room = presence.rooms.get(name);
  if (!room) return presence;
  const stakes = room.stakes - 1;
  return withRoom(presence, name, { ...room, stakes, leaveAt: stakes === 0 ? now + LINGER_MS : undefined });
}

/** A new line knows nothing of this client: it enters again, with what it said last. */
export function onConnected(presence: PresenceState, now: number): PresenceState {
  return eachRoom(presence, (room) => (room.denied ? room : { ...room, phase: "outside", sayAt: now }));
}

/** What was heard stands still for a moment, so that a cut does not flicker, and goes then: nobody is shown for ever. */
export function onDisconnected(presence: PresenceState, now: number): PresenceState {
  return eachRoom(presence, (room) => {
    const dropAt = room.peers.size > 0 ? (room.dropAt ?? now + limits.presenceGraceMs) : undefined;
    return { ...room, phase: "outside", sayAt: undefined, dropAt };
  });
}

/**
 * The server closes a line that asks for a room out of its reach: asking again would close the next one, too. It names
 * the room, unless that is none, or one too many: then it is one of those that were just being entered.
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
  // The first frame holds all who are there, oneself too; those that follow say what changed. One that was on its way
  // when the room was left and entered again is neither.
  if (room.phase === "entering" && !joined.some(({ participant }) => participant === me)) return presence;
  const peers = new Map(room.phase === "entering" ? [] : room.peers);
  for (const participant of left) peers.delete(participant);
  for (const peer of [...joined, ...updated]) peers.set(peer.participant, peer);
  return withRoom(presence, name, { ...room, phase: "inside", peers, dropAt: undefined });
}

/** What has to be said by now, and what is over. */
export function presenceDue(
  before: PresenceState,
  live: boolean,
  now: number,
): { presence: PresenceState; frames: FrameUp[] } {
  let presence = before;
  const frames: FrameUp[] = [];
  for (const [name, room] of before.rooms) {
    if (room.leaveAt !== undefined && room.leaveAt <= now && room.denied) {
      // Kept, so that whoever comes next still knows.
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
    if (!live || next.sayAt === undefined || next.denied || next.stakes === 0) continue;
    if (next.sayAt > now || now < presence.saidAt + PACE_MS) continue;
    frames.push({ frame: "presence", room: name, state: next.state });
    const phase = next.phase === "outside" ? "entering" : next.phase;
    presence = { ...withRoom(presence, name, { ...next, phase, sayAt: undefined }), saidAt: now };
  }
  return { presence, frames };
}

/** The client goes: the others should not see it stand there until its line is missed. */
export const goodbyes = ({ rooms }: PresenceState): FrameUp[] =>
  [...rooms].filter(([, room]) => room.phase !== "outside").map(([room]) => ({ frame: "presence", room, state: null }));

export function presenceDueAt({ rooms, saidAt }: PresenceState, live: boolean): readonly (number | undefined)[] {
  return [...rooms.values()].flatMap((room) => [
    room.leaveAt,
    room.dropAt,
    live && !room.denied && room.stakes > 0 && room.sayAt !== undefined
      ? Math.max(room.sayAt, saidAt + PACE_MS)
      : undefined,
  ]);
}

const NEW_ROOM: Room = {
  stakes: 0,
  state: {},
  phase: "outside",
  sayAt: undefined,
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
