import type { RoomMessage } from "./presence-message.ts";
import { type Attendee, createPresenceRoom, type PresenceRoom } from "./presence-room.ts";

/** One room: the sockets of this process, what is known about the others', and the messages to send about it. */
export interface SharedRoom {
  readonly members: PresenceRoom;
  readonly openedAt: number;
  /** Counts this process's changes in the room, as sent to the others. */
  readonly version: number;
  readonly hasOwn: boolean;
  readonly hasOthers: boolean;
  /** Some processes have not sent their list yet. */
  readonly isAwaiting: boolean;
  readonly hasOutgoing: boolean;
  isOwn(session: string): boolean;
  /** Returns false if nothing changed. */
  update(attendee: Omit<Attendee, "spokeAt">, now: number): boolean;
  remove(session: string): void;
  /** Returns whether the session stays visible for its grace period. */
  breakOff(session: string): boolean;
  /** Handles a message from another process about this room. */
  receive(from: string, message: RoomMessage, now: number): void;
  /** Handles a heartbeat of another process with its version of this room. */
  receiveBeat(from: string, version: number, now: number): void;
  /** A process shuts down: returns the sessions that it held here. */
  removeProcess(from: string): ReadonlySet<string> | undefined;
  /** Forgets the processes, with their sessions, whose last sign of life matches. Returns whether there were any. */
  removeProcesses(matches: (lastMessageAt: number) => boolean): boolean;
  /** Sends everything to the others, and requests everything from them. */
  resync(): void;
  /** The messages about this room since the last call, in an order that receivers can apply. */
  messages(nextVersion: () => number): RoomMessage[];
}

export interface SharedRoomDeps {
  /** The name of this process towards the others. */
  readonly self: string;
  readonly now: number;
  /** Processes that may have sockets in the room. */
  readonly awaited: Iterable<string>;
  /** A session sent an update or was removed, so its grace period ends. */
  readonly ungraced: (session: string) => void;
}

/** What is known about another process in a room. */
interface OtherProcess {
  /** −1: the process is in the room, but its sockets are not known yet. */
  version: number;
  lastMessageAt: number;
  requestedAt: number;
  readonly sessions: Set<string>;
}

const UNKNOWN = -1;
const REQUEST_AGAIN_MS = 1_000;

export function createSharedRoom(name: string, deps: SharedRoomDeps): SharedRoom {
  const { self, now: openedAt, ungraced } = deps;
  const members = createPresenceRoom();
  const awaited = new Set(deps.awaited);
  const own = new Set<string>();
  const others = new Map<string, OtherProcess>();
  /** Own sessions whose changes the other processes have not received. */
  const unsent = new Set<string>();
  const requestsTo = new Set<string>();
  let [version, sendsAll, requestsAll] = [0, true, true];

  function remove(session: string): void {
    members.leave(session);
    onRemoved(session);
  }

  /** A session has left the room. If it was our own, the others have to be notified. */
  function onRemoved(session: string): void {
    ungraced(session);
    if (own.delete(session)) unsent.add(session);
  }

  function update(attendee: Attendee): void {
    ungraced(attendee.session);
    for (const replaced of members.update(attendee)) onRemoved(replaced);
  }

  function otherOf(from: string, now: number): OtherProcess {
    let other = others.get(from);
    if (!other) {
      other = { version: UNKNOWN, lastMessageAt: now, requestedAt: Number.NEGATIVE_INFINITY, sessions: new Set() };
      others.set(from, other);
    }
    other.lastMessageAt = now;
    return other;
  }

  function requestList(from: string, other: OtherProcess, now: number): void {
    if (now - other.requestedAt < REQUEST_AGAIN_MS) return;
    other.requestedAt = now;
    requestsTo.add(from);
  }

  function receiveWhole(from: string, message: Extract<RoomMessage, { kind: "whole" }>, now: number): void {
    const { version: theirs, attendees, asks } = message;
    awaited.delete(from);
    if (asks) sendsAll = true;
    if (attendees.length === 0) return endOther(from);
    const other = otherOf(from, now);
    if (theirs <= other.version) return;
    const present = new Set(attendees.map(({ session }) => session));
    for (const session of other.sessions) if (!present.has(session)) remove(session);
    other.sessions.clear();
    for (const attendee of attendees) {
      other.sessions.add(attendee.session);
      update(attendee);
    }
    other.version = theirs;
  }

  function receiveChange(from: string, message: Extract<RoomMessage, { kind: "change" }>, now: number): void {
    const { after, version: theirs, said, gone } = message;
    const other = otherOf(from, now);
    if (theirs <= other.version) return;
    if (after !== other.version) return requestList(from, other, now);
    for (const attendee of said) {
      other.sessions.add(attendee.session);
      update(attendee);
    }
    for (const session of gone) if (other.sessions.delete(session)) remove(session);
    other.version = theirs;
  }

  function endOther(from: string): void {
    for (const session of others.get(from)?.sessions ?? []) remove(session);
    others.delete(from);
  }

  return {
    members,
    openedAt,
    get version() {
      return version;
    },
    get hasOwn() {
      return own.size > 0;
    },
    get hasOthers() {
      return others.size > 0;
    },
    get isAwaiting() {
      return awaited.size > 0;
    },
    get hasOutgoing() {
      return sendsAll || unsent.size > 0 || requestsTo.size > 0;
    },
    isOwn: (session) => own.has(session),
    update(attendee, now) {
      if (members.isUnchanged(attendee)) return false;
      own.add(attendee.session);
      unsent.add(attendee.session);
      update({ ...attendee, spokeAt: Math.max(now, members.newest + 1) });
      return true;
    },
    remove,
    breakOff(session) {
      if (members.breakOff(session)) return true;
      onRemoved(session);
      return false;
    },
    receive(from, message, now) {
      switch (message.kind) {
        case "whole":
          return receiveWhole(from, message, now);
        case "change":
          return receiveChange(from, message, now);
        case "ask":
          otherOf(from, now);
          if (message.of === self) sendsAll = true;
          return;
      }
    },
    receiveBeat(from, theirs, now) {
      const other = otherOf(from, now);
      if (theirs > other.version) requestList(from, other, now);
    },
    removeProcess(from) {
      awaited.delete(from);
      const other = others.get(from);
      others.delete(from);
      return other?.sessions;
    },
    removeProcesses(matches) {
      const gone = [...others].flatMap(([from, { lastMessageAt }]) => (matches(lastMessageAt) ? [from] : []));
      for (const from of gone) endOther(from);
      return gone.length > 0;
    },
    resync() {
      sendsAll = true;
      requestsAll = true;
    },
    messages(nextVersion) {
      const messages: RoomMessage[] = [];
      const after = version;
      if (version === 0 || unsent.size > 0) version = nextVersion();
      if (sendsAll) {
        const attendees = [...own].flatMap((session) => members.attendee(session) ?? []);
        messages.push({ kind: "whole", room: name, version, attendees, asks: requestsAll });
      } else if (unsent.size > 0 && others.size > 0) {
        const sessions = [...unsent];
        messages.push({
          kind: "change",
          room: name,
          after,
          version,
          said: sessions.flatMap((session) => (own.has(session) ? (members.attendee(session) ?? []) : [])),
          gone: sessions.filter((session) => !own.has(session)),
        });
      }
      for (const of of requestsTo) messages.push({ kind: "ask", room: name, of });
      unsent.clear();
      requestsTo.clear();
      sendsAll = false;
      requestsAll = false;
      return messages;
    },
  };
}
