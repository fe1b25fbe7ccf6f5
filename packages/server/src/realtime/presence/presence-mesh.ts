import type { PresenceMessage } from "./presence-message.ts";
import type { Attendee, RoomNews } from "./presence-room.ts";
import { createSharedRoom, type SharedRoom } from "./shared-room.ts";

export interface PresenceTimes {
  /** How long a session is shown whose connection broke. */
  readonly graceMs: number;
  /** How often a process says that it is still there. */
  readonly beatMs: number;
  /** A process that was silent for so long is gone. It is looked for with every beat. */
  readonly silentMs: number;
  /** How long the first in a room waits at most to hear from the other processes who is there. */
  readonly settleMs: number;
}

/**
 * All rooms of one process, and what it knows of others' sockets in them. It knows of a room only while it holds a
 * socket there, so a process without rooms neither keeps nor says anything. No clock: time comes in.
 */
export interface PresenceMesh {
  say(room: string, attendee: Omit<Attendee, "spokeAt">, now: number): void;
  leave(room: string, session: string): void;
  breakOff(room: string, session: string, now: number): void;
  /** Another process speaks. */
  receive(from: string, message: PresenceMessage, now: number): void;
  /** Other processes are heard from now on; what they said before was missed. */
  listening(now: number): void;
  /** Ends the grace of those that did not come back. */
  tick(now: number): void;
  /** Says that this process lives, and forgets those that do not. */
  beat(now: number): void;
  /** What the others have to hear since the last time. */
  outgoing(): readonly PresenceMessage[];
  readonly hasOutgoing: boolean;
  readonly hasRooms: boolean;
  /** Rooms that somebody here may have to hear of, since the last time. */
  stirred(): readonly string[];
  news(room: string): RoomNews | undefined;
  everybody(room: string): readonly (readonly Attendee[])[];
  /** Whether the other processes have said who they have there, or had the time to. */
  isSettled(room: string, now: number): boolean;
}

/** A heartbeat that is lost in part is lost for these rooms only. */
const ROOMS_PER_BEAT = 50;

export function createPresenceMesh(self: string, { graceMs, beatMs, silentMs, settleMs }: PresenceTimes): PresenceMesh {
  const rooms = new Map<string, SharedRoom>();
  /** Broken sessions, in the order in which their grace ends: it is the same for all. */
  const graces = new Map<string, { readonly room: string; readonly session: string; readonly until: number }>();
  /** Other processes that have rooms, and when they were heard. */
  const nodes = new Map<string, number>();
  const stirred = new Set<string>();
  const talking = new Set<string>();
  /** Rooms that were left, and others were there. */
  const departed = new Set<string>();
  let versions = 0;
  let beats: [string, number][][] = [];
  let beatAt: number | undefined;
  let listeningSince: number | undefined;

  function open(name: string, now: number): SharedRoom {
    const made = createSharedRoom(name, {
      ...{ self, now, awaited: nodes.keys() },
      ungraced: (session) => void graces.delete(placeOf(name, session)),
    });
    rooms.set(name, made);
    departed.delete(name);
    return made;
  }

  /** Something was done in a room: who has to hear of it will, and a room without own sockets is forgotten. */
  function touched(name: string, room: SharedRoom): void {
    if (room.hasOwn) {
      stirred.add(name);
      if (room.hasToSay) talking.add(name);
      return;
    }
    rooms.delete(name);
    stirred.delete(name);
    talking.delete(name);
    if (room.hasOthers) departed.add(name);
  }

  function receiveBye(from: string, now: number): void {
    nodes.delete(from);
    for (const [name, room] of rooms) {
      const sessions = room.depart(from);
      if (!sessions) continue;
      // Its clients are on their way to other processes.
      for (const session of sessions) startGrace(name, room, session, now);
      touched(name, room);
    }
  }

  function startGrace(name: string, room: SharedRoom, session: string, now: number): void {
    const place = placeOf(name, session);
    graces.delete(place);
    if (room.breakOff(session)) graces.set(place, { room: name, session, until: now + graceMs });
  }

  function sweep(now: number): void {
    const isGone = (heardAt: number) => now - heardAt > silentMs;
    for (const [from, heardAt] of nodes) if (isGone(heardAt)) nodes.delete(from);
    for (const [name, room] of rooms) if (room.endThose(isGone)) touched(name, room);
  }

  return {
    say(name, attendee, now) {
      const room = rooms.get(name) ?? open(name, now);
      if (room.say(attendee, now)) touched(name, room);
    },
    leave(name, session) {
      const room = rooms.get(name);
      if (!room?.isOwn(session)) return;
      room.remove(session);
      touched(name, room);
    },
    breakOff(name, session, now) {
      const room = rooms.get(name);
      if (!room?.isOwn(session)) return;
      startGrace(name, room, session, now);
      touched(name, room);
    },
    receive(from, message, now) {
      if (from === self) return;
      if (message.kind === "bye") return receiveBye(from, now);
      nodes.set(from, now);
      if (message.kind === "beat") {
        for (const [name, version] of message.rooms) {
          const room = rooms.get(name);
          if (!room) continue;
          room.hearBeat(from, version, now);
          touched(name, room);
        }
        return;
      }
      const room = rooms.get(message.room);
      if (!room) {
        // Whoever asks may wait for our answer. A process without rooms is not waited for.
        if (rooms.size > 0 && (message.kind === "ask" ? message.of === self : message.kind === "whole" && message.asks))
          departed.add(message.room);
        return;
      }
      room.receive(from, message, now);
      touched(message.room, room);
    },
    listening(now) {
      listeningSince = now;
      for (const [name, room] of rooms) {
        room.beginAnew();
        touched(name, room);
      }
    },
    tick(now) {
      for (const [place, { room: name, session, until }] of graces) {
        if (until > now) break;
        graces.delete(place);
        const room = rooms.get(name);
        if (!room?.who.has(session)) continue;
        room.remove(session);
        touched(name, room);
      }
    },
    beat(now) {
      // Who slept for long has not heard the others, and cannot tell the living from the dead.
      if (beatAt === undefined || now - beatAt < 2 * beatMs) sweep(now);
      beatAt = now;
      const versionsByRoom = [...rooms].map(([name, { version }]): [string, number] => [name, version]);
      beats = [];
      for (let i = 0; i < versionsByRoom.length; i += ROOMS_PER_BEAT)
        beats.push(versionsByRoom.slice(i, i + ROOMS_PER_BEAT));
    },
    outgoing() {
      const messages: PresenceMessage[] = [];
      for (const room of departed)
        messages.push({ kind: "whole", room, version: ++versions, attendees: [], asks: false });
      for (const name of talking) {
        const room = rooms.get(name);
        if (room) messages.push(...room.messages(() => ++versions));
      }
      for (const beat of beats) messages.push({ kind: "beat", rooms: beat });
      departed.clear();
      talking.clear();
      beats = [];
      return messages;
    },
    get hasOutgoing() {
      return departed.size + talking.size + beats.length > 0;
    },
    get hasRooms() {
      return rooms.size > 0;
    },
    stirred() {
      const names = [...stirred];
      stirred.clear();
      return names;
    },
    news: (name) => rooms.get(name)?.who.news(),
    everybody: (name) => rooms.get(name)?.who.everybody() ?? [],
    isSettled(name, now) {
      const room = rooms.get(name);
      if (!room || now - room.openedAt >= settleMs) return true;
      // After two beats everybody who has rooms was heard.
      return !room.isAwaiting && listeningSince !== undefined && now - listeningSince > 2 * beatMs;
    },
  };
}

/** No room's name has a newline in it. */
const placeOf = (room: string, session: string): string => `${room}\n${session}`;
