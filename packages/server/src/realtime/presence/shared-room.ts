import type { RoomMessage } from "./presence-message.ts";
import { type Attendee, createPresenceRoom, type PresenceRoom } from "./presence-room.ts";

/** One room: the sockets of this process, what is known about the others', and the messages to send about it. */
export interface SharedRoom {
  readonly who: PresenceRoom;
  readonly openedAt: number;
  /** Counts this process's changes in the room, as sent to the others. */
  readonly version: number;
  readonly hasOwn: boolean;
  readonly hasOthers: boolean;
  /** Some processes have not sent their list yet. */
  readonly isAwaiting: boolean;
  readonly hasToSay: boolean;
  isOwn(session: string): boolean;
  /** Returns false if nothing changed. */
  say(attendee: Omit<Attendee, "spokeAt">, now: number): boolean;
  remove(session: string): void;
  /** Returns whether the session stays visible for its grace period. */
  breakOff(session: string): boolean;
  /** Handles a message from another process about this room. */
  receive(from: string, message: RoomMessage, now: number): void;
  /** Handles a heartbeat of another process with its version of this room. */
  hearBeat(from: string, version: number, now: number): void;
  /** A process shuts down: returns the sessions that it held here. */
  depart(from: string): ReadonlySet<string> | undefined;
  /** Forgets the processes, with their sessions, whose last sign of life matches. Returns whether there were any. */
  endThose(isGone: (heardAt: number) => boolean): boolean;
  /** Sends everything to the others, and requests everything from them. */
  beginAnew(): void;
  /** The messages about this room since the last call, in an order that receivers can apply. */
  messages(nextVersion: () => number): RoomMessage[];
}

export interface SharedRoomDeps {
  /** The name of this process towards the others. */
  readonly self: string;
  readonly now: number;
  /** Processes that may have sockets in the room. */
  readonly awaited: Iterable<string>;
  /** A session spoke or was removed, so its grace period ends. */
  readonly ungraced: (session: string) => void;
}

/** What is known about another process in a room. */
interface Other {
  /** −1: the process is in the room, but its sockets are not known yet. */
  version: number;
  heardAt: number;
  askedAt: number;
  readonly sessions: Set<string>;
}

const UNKNOWN = -1;
const ASK_AGAIN_MS = 1_000;

export function createSharedRoom(name: string, deps: SharedRoomDeps): SharedRoom {
  const { self, now: openedAt, ungraced } = deps;
  const who = createPresenceRoom();
  const awaited = new Set(deps.awaited);
  const own = new Set<string>();
  const others = new Map<string, Other>();
  /** Own sessions whose changes the other processes have not received. */
  const unsaid = new Set<string>();
  const asksOf = new Set<string>();
  let [version, saysAll, asksAll] = [0, true, true];

  function remove(session: string): void {
    who.leave(session);
    forgotten(session);
  }

  /** A session has left the room. If it was our own, the others have to be notified. */
  function forgotten(session: string): void {
    ungraced(session);
    if (own.delete(session)) unsaid.add(session);
  }

  function heard(attendee: Attendee): void {
    ungraced(attendee.session);
    for (const replaced of who.say(attendee)) forgotten(replaced);
  }

  function otherOf(from: string, now: number): Other {
    let other = others.get(from);
    if (!other) {
      other = { version: UNKNOWN, heardAt: now, askedAt: Number.NEGATIVE_INFINITY, sessions: new Set() };
      others.set(from, other);
    }
    other.heardAt = now;
    return other;
  }

  function ask(from: string, other: Other, now: number): void {
    if (now - other.askedAt < ASK_AGAIN_MS) return;
    other.askedAt = now;
    asksOf.add(from);
  }

  function receiveWhole(from: string, message: Extract<RoomMessage, { kind: "whole" }>, now: number): void {
    const { version: theirs, attendees, asks } = message;
    awaited.delete(from);
    if (asks) saysAll = true;
    if (attendees.length === 0) return endOther(from);
    const other = otherOf(from, now);
    if (theirs <= other.version) return;
    const there = new Set(attendees.map(({ session }) => session));
    for (const session of other.sessions) if (!there.has(session)) remove(session);
    other.sessions.clear();
    for (const attendee of attendees) {
      other.sessions.add(attendee.session);
      heard(attendee);
    }
    other.version = theirs;
  }

  function receiveChange(from: string, message: Extract<RoomMessage, { kind: "change" }>, now: number): void {
    const { after, version: theirs, said, gone } = message;
    const other = otherOf(from, now);
    if (theirs <= other.version) return;
    if (after !== other.version) return ask(from, other, now);
    for (const attendee of said) {
      other.sessions.add(attendee.session);
      heard(attendee);
    }
    for (const session of gone) if (other.sessions.delete(session)) remove(session);
    other.version = theirs;
  }

  function endOther(from: string): void {
    for (const session of others.get(from)?.sessions ?? []) remove(session);
    others.delete(from);
  }

  return {
    who,
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
    get hasToSay() {
      return saysAll || unsaid.size > 0 || asksOf.size > 0;
    },
    isOwn: (session) => own.has(session),
    say(attendee, now) {
      if (who.isSaid(attendee)) return false;
      own.add(attendee.session);
      unsaid.add(attendee.session);
      heard({ ...attendee, spokeAt: Math.max(now, who.newest + 1) });
      return true;
    },
    remove,
    breakOff(session) {
      if (who.breakOff(session)) return true;
      forgotten(session);
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
          if (message.of === self) saysAll = true;
          return;
      }
    },
    hearBeat(from, theirs, now) {
      const other = otherOf(from, now);
      if (theirs > other.version) ask(from, other, now);
    },
    depart(from) {
      awaited.delete(from);
      const other = others.get(from);
      others.delete(from);
      return other?.sessions;
    },
    endThose(isGone) {
      const gone = [...others].flatMap(([from, { heardAt }]) => (isGone(heardAt) ? [from] : []));
      for (const from of gone) endOther(from);
      return gone.length > 0;
    },
    beginAnew() {
      saysAll = true;
      asksAll = true;
    },
    messages(nextVersion) {
      const messages: RoomMessage[] = [];
      const after = version;
      if (version === 0 || unsaid.size > 0) version = nextVersion();
      if (saysAll) {
        const attendees = [...own].flatMap((session) => who.attendee(session) ?? []);
        messages.push({ kind: "whole", room: name, version, attendees, asks: asksAll });
      } else if (unsaid.size > 0 && others.size > 0) {
        const sessions = [...unsaid];
        messages.push({
          kind: "change",
          room: name,
          after,
          version,
          said: sessions.flatMap((session) => (own.has(session) ? (who.attendee(session) ?? []) : [])),
          gone: sessions.filter((session) => !own.has(session)),
        });
      }
      for (const of of asksOf) messages.push({ kind: "ask", room: name, of });
      unsaid.clear();
      asksOf.clear();
      saysAll = false;
      asksAll = false;
      return messages;
    },
  };
}
