import type { PresenceMessage, RoomMessage } from "./presence-message.ts";
import type { Attendee, RoomNews } from "./presence-room.ts";
import { createSharedRoom, type SharedRoom } from "./shared-room.ts";

export interface PresenceTimes {
  /** How long a session stays visible after its connection broke. */
  readonly graceMs: number;
  /** How often a process sends a heartbeat. */
  readonly beatMs: number;
  /** A process that was silent for this long counts as dead. Checked with every heartbeat. */
  readonly silentMs: number;
  /** How long the first member of a room waits at most for the other processes' lists. */
  readonly settleMs: number;
}

/**
 * All rooms of one process, with what it knows about the sockets of other processes in them. A process knows a room
 * only while it has a socket there, so a process without rooms stores and sends nothing. There is no clock inside: the
 * caller passes the time.
 *
 * When a process opens a room, or its channel to the others opens, it sends its whole list of sockets and requests the
 * others' lists. Afterwards it sends only changes, and with every heartbeat the whole list again: that makes up for lost
 * messages. A late message, older than one that arrived before, counts as lost.
 */
export interface PresenceMesh {
  update(room: string, attendee: Omit<Attendee, "spokeAt">, now: number): void;
  leave(room: string, session: string): void;
  breakOff(room: string, session: string, now: number): void;
  /** Handles a message from another process. */
  receive(from: string, message: PresenceMessage, now: number): void;
  /** The channel to other processes works from now on. Earlier messages were missed. */
  listening(now: number): void;
  /** Ends the grace period of sessions that did not come back. */
  tick(now: number): void;
  /** Sends all lists again, and forgets processes that have stopped. */
  beat(now: number): void;
  /** The messages for other processes since the last call. */
  outgoing(): readonly PresenceMessage[];
  readonly hasOutgoing: boolean;
  readonly hasRooms: boolean;
  /** Rooms that may have news for local sockets since the last call. */
  changedRooms(): readonly string[];
  news(room: string): RoomNews | undefined;
  participants(room: string): readonly (readonly Attendee[])[];
  /** Whether the other processes have sent their members of the room, or had the time to. */
  isSettled(room: string, now: number): boolean;
}

/** Each message costs a transaction, and a lost one affects all of its rooms. */
const ROOMS_PER_MESSAGE = 50;

export function createPresenceMesh(self: string, { graceMs, beatMs, silentMs, settleMs }: PresenceTimes): PresenceMesh {
  const rooms = new Map<string, SharedRoom>();
  /** When broken sessions of rooms are overdue, in this order: the period is the same for all. */
  const graces: { readonly room: string; readonly until: number }[] = [];
  /** Other processes that have rooms, and the last message of each. */
  const nodes = new Map<string, { readonly number: number; readonly at: number }>();
  const changed = new Set<string>();
  const withOutgoing = new Set<string>();
  /** Rooms that this process left while other processes were in them. */
  const departed = new Set<string>();
  let number = 0;
  let beatAt: number | undefined;
  let listeningSince: number | undefined;

  function open(name: string, now: number): SharedRoom {
    const made = createSharedRoom({ name, now, awaited: nodes.keys() });
    rooms.set(name, made);
    departed.delete(name);
    return made;
  }

  /** A room has changed: queue its news and messages, and forget the room if it has no local sockets. */
  function touched(name: string, room: SharedRoom): void {
    if (room.hasOwn) {
      // Lists of a heartbeat rarely bring news, and there may be thousands.
      if (room.members.hasChanged) changed.add(name);
      if (room.hasOutgoing) withOutgoing.add(name);
      return;
    }
    rooms.delete(name);
    changed.delete(name);
    withOutgoing.delete(name);
    if (room.hasOthers) departed.add(name);
  }

  function receiveBye(from: string, now: number): void {
    nodes.delete(from);
    for (const [name, room] of rooms) {
      // The clients of that process are reconnecting elsewhere, so give their sessions a grace period.
      for (const session of room.removeProcess(from)) startGrace(name, room, session, now);
      touched(name, room);
    }
  }

  function receiveRoom(from: string, message: RoomMessage, now: number): void {
    const room = rooms.get(message.room);
    if (room) {
      room.receive(from, message, now);
      touched(message.room, room);
    } else if (message.kind === "whole" && message.asks && rooms.size > 0)
      // The sender waits for a response, except from processes without rooms.
      departed.add(message.room);
  }

  function startGrace(name: string, room: SharedRoom, session: string, now: number): void {
    graces.push({ room: name, until: now + graceMs });
    room.breakOff(session, now + graceMs);
  }

  function sweep(now: number): void {
    const isSilent = (lastMessageAt: number) => now - lastMessageAt > silentMs;
    for (const [from, { at }] of nodes) if (isSilent(at)) nodes.delete(from);
    for (const [name, room] of rooms) if (room.removeProcesses(isSilent)) touched(name, room);
  }

  return {
    update(name, attendee, now) {
      const room = rooms.get(name) ?? open(name, now);
      if (room.update(attendee, now)) touched(name, room);
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
      if (message.number < (nodes.get(from)?.number ?? 0)) return;
      nodes.set(from, { number: message.number, at: now });
      for (const one of message.rooms) receiveRoom(from, one, now);
    },
    listening(now) {
      listeningSince = now;
      for (const [name, room] of rooms) {
        room.askAll();
        touched(name, room);
      }
    },
    tick(now) {
      const running = graces.findIndex(({ until }) => until > now);
      for (const { room: name } of graces.splice(0, running < 0 ? graces.length : running)) {
        const room = rooms.get(name);
        for (const session of room?.members.overdue(now) ?? []) room?.remove(session);
        if (room) touched(name, room);
      }
    },
    beat(now) {
      // A process that was suspended has received no heartbeats, so it cannot tell which others are alive.
      if (beatAt === undefined || now - beatAt < 2 * beatMs) sweep(now);
      beatAt = now;
      for (const [name, room] of rooms) {
        room.beat();
        withOutgoing.add(name);
      }
    },
    outgoing() {
      const left = [...departed].map((room): RoomMessage => ({ kind: "whole", room, attendees: [], asks: false }));
      const messages = [...left, ...[...withOutgoing].flatMap((name) => rooms.get(name)?.message() ?? [])];
      departed.clear();
      withOutgoing.clear();
      number++;
      const sent: PresenceMessage[] = [];
      for (let i = 0; i < messages.length; i += ROOMS_PER_MESSAGE)
        sent.push({ kind: "rooms", number, rooms: messages.slice(i, i + ROOMS_PER_MESSAGE) });
      return sent;
    },
    get hasOutgoing() {
      return departed.size + withOutgoing.size > 0;
    },
    get hasRooms() {
      return rooms.size > 0;
    },
    changedRooms() {
      const names = [...changed];
      changed.clear();
      return names;
    },
    news: (name) => rooms.get(name)?.members.news(),
    participants: (name) => rooms.get(name)?.members.participants() ?? [],
    isSettled(name, now) {
      const room = rooms.get(name);
      if (!room || now - room.openedAt >= settleMs) return true;
      // After two heartbeats, every process with rooms has sent a message.
      return !room.isAwaiting && listeningSince !== undefined && now - listeningSince > 2 * beatMs;
    },
  };
}
