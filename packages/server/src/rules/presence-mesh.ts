import { type Attendee, createPresenceRoom, type PresenceRoom, type RoomNews } from "./presence-room.ts";

/**
 * What processes tell each other of the sockets that they hold. Versions count the changes of one process in one room:
 * who has not heard `after` missed something, and asks.
 */
export type PresenceMessage =
  /** All that a process holds in a room; nobody: it has left the room. `asks`: and who do you have there? */
  | {
      readonly kind: "whole";
      readonly room: string;
      readonly version: number;
      readonly attendees: readonly Attendee[];
      readonly asks: boolean;
    }
  | {
      readonly kind: "change";
      readonly room: string;
      readonly after: number;
      readonly version: number;
      readonly said: readonly Attendee[];
      readonly gone: readonly string[];
    }
  /** To one process: tell me wholly. */
  | { readonly kind: "ask"; readonly room: string; readonly of: string }
  /** The heartbeat: rooms, and their versions. */
  | { readonly kind: "beat"; readonly rooms: readonly (readonly [room: string, version: number])[] }
  /** This process ends. */
  | { readonly kind: "bye" };

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

/** What another process has in a room. */
interface Other {
  /** −1: it is there, and we do not know with whom. */
  version: number;
  heardAt: number;
  askedAt: number;
  readonly sessions: Set<string>;
}

interface Room {
  readonly who: PresenceRoom;
  readonly openedAt: number;
  /** Processes that have not answered yet. */
  readonly awaited: Set<string>;
  readonly own: Set<string>;
  readonly others: Map<string, Other>;
  version: number;
  /** Own sessions of which the others have to hear. */
  readonly unsaid: Set<string>;
  saysAll: boolean;
  asksAll: boolean;
  readonly asksOf: Set<string>;
}

const UNKNOWN = -1;
const ASK_AGAIN_MS = 1_000;
/** A heartbeat that is lost in part is lost for these rooms only. */
const ROOMS_PER_BEAT = 50;

export function createPresenceMesh(self: string, { graceMs, beatMs, silentMs, settleMs }: PresenceTimes): PresenceMesh {
  const rooms = new Map<string, Room>();
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

  function open(room: string, now: number): Room {
    const made: Room = {
      who: createPresenceRoom(),
      openedAt: now,
      awaited: new Set(nodes.keys()),
      own: new Set(),
      others: new Map(),
      version: 0,
      unsaid: new Set(),
      saysAll: true,
      asksAll: true,
      asksOf: new Set(),
    };
    rooms.set(room, made);
    departed.delete(room);
    return made;
  }

  /** Something was done in a room: who has to hear of it will, and a room without own sockets is forgotten. */
  function touched(name: string, room: Room): void {
    if (room.own.size > 0) {
      stirred.add(name);
      if (room.saysAll || room.unsaid.size > 0 || room.asksOf.size > 0) talking.add(name);
      return;
    }
    rooms.delete(name);
    stirred.delete(name);
    talking.delete(name);
    if (room.others.size > 0) departed.add(name);
  }

  function remove(name: string, room: Room, session: string): void {
    room.who.leave(session);
    forgotten(name, room, session);
  }

  /** A session is no longer in the room: if it was our own, the others have to hear it. */
  function forgotten(name: string, room: Room, session: string): void {
    graces.delete(placeOf(name, session));
    if (room.own.delete(session)) room.unsaid.add(session);
  }

  function heard(name: string, room: Room, attendee: Attendee): void {
    graces.delete(placeOf(name, attendee.session));
    for (const replaced of room.who.say(attendee)) forgotten(name, room, replaced);
  }

  function otherOf(room: Room, from: string, now: number): Other {
    let other = room.others.get(from);
    if (!other) {
      other = { version: UNKNOWN, heardAt: now, askedAt: Number.NEGATIVE_INFINITY, sessions: new Set() };
      room.others.set(from, other);
    }
    other.heardAt = now;
    return other;
  }

  function ask(room: Room, from: string, other: Other, now: number): void {
    if (now - other.askedAt < ASK_AGAIN_MS) return;
    other.askedAt = now;
    room.asksOf.add(from);
  }

  function receiveWhole(
    name: string,
    room: Room,
    from: string,
    { version, attendees, asks }: Extract<PresenceMessage, { kind: "whole" }>,
    now: number,
  ): void {
    room.awaited.delete(from);
    if (asks) room.saysAll = true;
    if (attendees.length === 0) return endOther(name, room, from);
    const other = otherOf(room, from, now);
    if (version <= other.version) return;
    const there = new Set(attendees.map(({ session }) => session));
    for (const session of other.sessions) if (!there.has(session)) remove(name, room, session);
    other.sessions.clear();
    for (const attendee of attendees) {
      other.sessions.add(attendee.session);
      heard(name, room, attendee);
    }
    other.version = version;
  }

  function receiveChange(
    name: string,
    room: Room,
    from: string,
    { after, version, said, gone }: Extract<PresenceMessage, { kind: "change" }>,
    now: number,
  ): void {
    const other = otherOf(room, from, now);
    if (version <= other.version) return;
    if (after !== other.version) return ask(room, from, other, now);
    for (const attendee of said) {
      other.sessions.add(attendee.session);
      heard(name, room, attendee);
    }
    for (const session of gone) if (other.sessions.delete(session)) remove(name, room, session);
    other.version = version;
  }

  function endOther(name: string, room: Room, from: string): void {
    for (const session of room.others.get(from)?.sessions ?? []) remove(name, room, session);
    room.others.delete(from);
  }

  function receiveBye(from: string, now: number): void {
    nodes.delete(from);
    for (const [name, room] of rooms) {
      room.awaited.delete(from);
      const other = room.others.get(from);
      if (!other) continue;
      // Its clients are on their way to other processes.
      for (const session of other.sessions) startGrace(name, room, session, now);
      room.others.delete(from);
      touched(name, room);
    }
  }

  function startGrace(name: string, room: Room, session: string, now: number): void {
    const place = placeOf(name, session);
    graces.delete(place);
    if (room.who.breakOff(session)) graces.set(place, { room: name, session, until: now + graceMs });
    else forgotten(name, room, session);
  }

  function sweep(now: number): void {
    const isGone = (heardAt: number) => now - heardAt > silentMs;
    for (const [from, heardAt] of nodes) if (isGone(heardAt)) nodes.delete(from);
    for (const [name, room] of rooms) {
      for (const [from, { heardAt }] of room.others) {
        if (!isGone(heardAt)) continue;
        endOther(name, room, from);
        touched(name, room);
      }
    }
  }

  /** What this process has to tell of a room, in an order in which everybody understands it. */
  function messagesOf(name: string, room: Room): PresenceMessage[] {
    const messages: PresenceMessage[] = [];
    const after = room.version;
    if (room.version === 0 || room.unsaid.size > 0) room.version = ++versions;
    if (room.saysAll) {
      const attendees = [...room.own].flatMap((session) => room.who.attendee(session) ?? []);
      messages.push({ kind: "whole", room: name, version: room.version, attendees, asks: room.asksAll });
    } else if (room.unsaid.size > 0 && room.others.size > 0) {
      const sessions = [...room.unsaid];
      messages.push({
        kind: "change",
        room: name,
        after,
        version: room.version,
        said: sessions.flatMap((session) => (room.own.has(session) ? (room.who.attendee(session) ?? []) : [])),
        gone: sessions.filter((session) => !room.own.has(session)),
      });
    }
    for (const of of room.asksOf) messages.push({ kind: "ask", room: name, of });
    room.unsaid.clear();
    room.asksOf.clear();
    room.saysAll = false;
    room.asksAll = false;
    return messages;
  }

  return {
    say(name, attendee, now) {
      const room = rooms.get(name) ?? open(name, now);
      if (room.who.isSaid(attendee)) return;
      room.own.add(attendee.session);
      room.unsaid.add(attendee.session);
      heard(name, room, { ...attendee, spokeAt: Math.max(now, room.who.newest + 1) });
      touched(name, room);
    },
    leave(name, session) {
      const room = rooms.get(name);
      if (!room?.own.has(session)) return;
      remove(name, room, session);
      touched(name, room);
    },
    breakOff(name, session, now) {
      const room = rooms.get(name);
      if (!room?.own.has(session)) return;
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
          const other = otherOf(room, from, now);
          if (version > other.version) ask(room, from, other, now);
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
      switch (message.kind) {
        case "whole":
          receiveWhole(message.room, room, from, message, now);
          break;
        case "change":
          receiveChange(message.room, room, from, message, now);
          break;
        case "ask":
          otherOf(room, from, now);
          if (message.of === self) room.saysAll = true;
          break;
      }
      touched(message.room, room);
    },
    listening(now) {
      listeningSince = now;
      for (const [name, room] of rooms) {
        room.saysAll = true;
        room.asksAll = true;
        touched(name, room);
      }
    },
    tick(now) {
      for (const [place, { room: name, session, until }] of graces) {
        if (until > now) break;
        graces.delete(place);
        const room = rooms.get(name);
        if (!room?.who.has(session)) continue;
        remove(name, room, session);
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
        if (room) messages.push(...messagesOf(name, room));
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
      return room.awaited.size === 0 && listeningSince !== undefined && now - listeningSince > 2 * beatMs;
    },
  };
}

/** No room's name has a newline in it. */
const placeOf = (room: string, session: string): string => `${room}\n${session}`;
