import type { RoomMessage } from "./presence-message.ts";
import { type Attendee, createPresenceRoom, type PresenceRoom } from "./presence-room.ts";

/** One room: the sockets of this process, those of the others, and what to send about it. */
export interface SharedRoom {
  readonly members: PresenceRoom;
  readonly openedAt: number;
  readonly hasOwn: boolean;
  readonly hasOthers: boolean;
  /** Some processes have not sent their list yet. */
  readonly isAwaiting: boolean;
  readonly hasOutgoing: boolean;
  isOwn(session: string): boolean;
  /** Returns false if nothing changed. */
  update(attendee: Omit<Attendee, "spokeAt">, now: number): boolean;
  remove(session: string): void;
  /** Its connection broke: it stays visible for a while, unless its device is back already. */
  breakOff(session: string, until: number): void;
  /** Handles a message from another process about this room. */
  receive(from: string, message: RoomMessage, now: number): void;
  /** A process shuts down: returns the sessions that it held here. */
  removeProcess(from: string): ReadonlySet<string>;
  /** Forgets the processes, with their sessions, whose last sign of life matches. Returns whether there were any. */
  removeProcesses(matches: (lastMessageAt: number) => boolean): boolean;
  /** The next message is the whole list, which asks for the others' lists. */
  askAll(): void;
  /** The next message shows the others that this process is in the room, and with whom. */
  beat(): void;
  /** What the others have to know since the last call. */
  message(): RoomMessage | undefined;
}

export interface SharedRoomDeps {
  readonly name: string;
  readonly now: number;
  /** Processes that may have sockets in the room. */
  readonly awaited: Iterable<string>;
}

/** What is known about another process in a room. */
interface OtherProcess {
  readonly lastMessageAt: number;
  readonly sessions: Set<string>;
}

export function createSharedRoom({ name: room, now: openedAt, ...deps }: SharedRoomDeps): SharedRoom {
  const members = createPresenceRoom();
  const awaited = new Set(deps.awaited);
  const own = new Set<string>();
  const others = new Map<string, OtherProcess>();
  /** Own sessions whose changes the other processes have not received. */
  const unsent = new Set<string>();
  let [sendsAll, asksAll, sendsSign] = [true, true, false];

  function remove(session: string): void {
    members.leave(session);
    onRemoved(session);
  }

  /** A session has left the room. If it was our own, the others have to be notified. */
  function onRemoved(session: string): void {
    if (own.delete(session)) unsent.add(session);
  }

  function update(attendee: Attendee): void {
    for (const replaced of members.update(attendee)) onRemoved(replaced);
  }

  function askAll(): void {
    sendsAll = true;
    asksAll = true;
  }

  function receiveWhole(from: string, { attendees, asks }: Extract<RoomMessage, { kind: "whole" }>, now: number): void {
    awaited.delete(from);
    if (asks) sendsAll = true;
    const sessions = new Set(attendees.map(({ session }) => session));
    for (const session of others.get(from)?.sessions ?? []) if (!sessions.has(session)) remove(session);
    if (sessions.size > 0) others.set(from, { lastMessageAt: now, sessions });
    else others.delete(from);
    for (const attendee of attendees) update(attendee);
  }

  function receiveChange(from: string, { said, gone }: Extract<RoomMessage, { kind: "change" }>, now: number): void {
    // Its list was lost, and ours perhaps too.
    if (!others.has(from)) askAll();
    const { sessions } = others.get(from) ?? { sessions: new Set<string>() };
    others.set(from, { lastMessageAt: now, sessions });
    for (const attendee of said) {
      sessions.add(attendee.session);
      update(attendee);
    }
    for (const session of gone) if (sessions.delete(session)) remove(session);
  }

  return {
    members,
    openedAt,
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
      return sendsAll || sendsSign || unsent.size > 0;
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
    breakOff(session, until) {
      if (!members.breakOff(session, until)) onRemoved(session);
    },
    receive(from, message, now) {
      switch (message.kind) {
        case "whole":
          return receiveWhole(from, message, now);
        case "change":
          return receiveChange(from, message, now);
      }
    },
    removeProcess(from) {
      awaited.delete(from);
      const other = others.get(from);
      others.delete(from);
      return other?.sessions ?? new Set();
    },
    removeProcesses(matches) {
      const gone = [...others].filter(([, { lastMessageAt }]) => matches(lastMessageAt));
      for (const [from, { sessions }] of gone) {
        others.delete(from);
        for (const session of sessions) remove(session);
      }
      return gone.length > 0;
    },
    askAll,
    beat() {
      // Alone in the room, a sign is enough: a process that is there too asks for the list.
      if (others.size > 0) sendsAll = true;
      else sendsSign = true;
    },
    message() {
      const sessions = sendsAll ? [...own] : others.size > 0 ? [...unsent] : [];
      const [isWhole, asks, isSign] = [sendsAll, asksAll, sendsSign];
      unsent.clear();
      [sendsAll, asksAll, sendsSign] = [false, false, false];
      if (!isWhole && !isSign && sessions.length === 0) return undefined;
      const said = sessions.flatMap((session) => (own.has(session) ? (members.attendee(session) ?? []) : []));
      if (isWhole) return { kind: "whole", room, attendees: said, asks };
      return { kind: "change", room, said, gone: sessions.filter((session) => !own.has(session)) };
    },
  };
}
