import type { ParticipantKind } from "@holdfast/sdk/protocol";
import { participantName } from "../../rules/tokens/participant.ts";

/** One socket in a room, and its latest state. */
export interface Attendee {
  readonly session: string;
  readonly clientId: string | null;
  readonly participantKind: ParticipantKind;
  readonly participantId: string;
  /** A JSON object as text: it is forwarded often and never parsed. */
  readonly state: string;
  /** The time of the state: later than any that the room had received before. */
  readonly spokeAt: number;
}

/** The changes since the last call of `news`. A participant is a list of its sessions, the most recent first. */
export interface RoomNews {
  readonly joined: readonly (readonly Attendee[])[];
  readonly updated: readonly (readonly Attendee[])[];
  /** Participants, `<kind>:<id>`. */
  readonly left: readonly string[];
}

/**
 * The members of one room: each participant once, with its sessions. The room remembers what its members were sent, so
 * that changes in between are sent as one change, or not at all if they cancel out.
 *
 *           update                   break off
 *   (away) ───────► there, living ──────────────► there, broken ───► (away)
 *                     ▲   │ leave                  │      grace over, or
 *                     │   └─────► (away)           │      its device came back
 *                     └────────────────────────────┘      with another session
 *                       update, by the same session
 */
export interface PresenceRoom {
  readonly newest: number;
  /** Whether a session is in the room, living or broken. */
  has(session: string): boolean;
  attendee(session: string): Attendee | undefined;
  /** Enters, or updates the state. Returns the broken sessions of the same device, which the new session replaces. */
  update(attendee: Attendee): readonly string[];
  /**
   * Whether this update changes nothing: the session's state is the same, and it is its participant's most recent
   * session.
   */
  isUnchanged(attendee: Omit<Attendee, "spokeAt">): boolean;
  leave(session: string): void;
  /**
   * The connection broke. Returns false if the device already has a newer session; then this one is removed at once.
   */
  breakOff(session: string): boolean;
  /** The changes since the last call. Undefined if there are none. */
  news(): RoomNews | undefined;
  participants(): readonly (readonly Attendee[])[];
}

interface PresentSession {
  readonly attendee: Attendee;
  readonly isBroken: boolean;
}

export function createPresenceRoom(): PresenceRoom {
  /** Participant → session → its state. */
  const peers = new Map<string, Map<string, PresentSession>>();
  const participantBySession = new Map<string, string>();
  /** Participants that the members know of, and participants that may have changed. */
  const announced = new Set<string>();
  const changed = new Set<string>();
  let newest = 0;

  const presentOf = (session: string): PresentSession | undefined => {
    const participant = participantBySession.get(session);
    return participant === undefined ? undefined : peers.get(participant)?.get(session);
  };

  function put(attendee: Attendee, isBroken: boolean): Map<string, PresentSession> {
    const participant = nameOf(attendee);
    let sessions = peers.get(participant);
    if (!sessions) {
      sessions = new Map();
      peers.set(participant, sessions);
    }
    sessions.set(attendee.session, { attendee, isBroken });
    participantBySession.set(attendee.session, participant);
    return sessions;
  }

  function leave(session: string): void {
    const participant = participantBySession.get(session);
    const sessions = participant === undefined ? undefined : peers.get(participant);
    if (participant === undefined || !sessions) return;
    participantBySession.delete(session);
    sessions.delete(session);
    if (sessions.size === 0) peers.delete(participant);
    changed.add(participant);
  }

  const sessionsOf = (participant: string): readonly Attendee[] =>
    [...(peers.get(participant)?.values() ?? [])].map(({ attendee }) => attendee).sort(byRecency);

  return {
    get newest() {
      return newest;
    },
    has: (session) => participantBySession.has(session),
    attendee: (session) => presentOf(session)?.attendee,
    update(attendee) {
      const before = presentOf(attendee.session);
      newest = Math.max(newest, attendee.spokeAt);
      // Members do not see whether a connection is broken, so coming back unchanged is no news.
      if (before && isSame(before.attendee, attendee)) {
        put(before.attendee, false);
        return [];
      }
      // A socket may send another hello as a different participant.
      if (before && nameOf(before.attendee) !== nameOf(attendee)) leave(attendee.session);
      const sessions = put(attendee, false);
      changed.add(nameOf(attendee));
      const replaced = [...sessions.values()].filter(
        ({ isBroken, attendee: other }) => isBroken && isDevice(other, attendee),
      );
      for (const { attendee: other } of replaced) leave(other.session);
      return replaced.map(({ attendee: other }) => other.session);
    },
    isUnchanged(attendee) {
      const before = presentOf(attendee.session);
      if (!before || before.isBroken || !isSame(before.attendee, { ...attendee, spokeAt: before.attendee.spokeAt }))
        return false;
      const times = [...(peers.get(nameOf(attendee))?.values() ?? [])].map(({ attendee: { spokeAt } }) => spokeAt);
      return times.every((spokeAt) => spokeAt <= before.attendee.spokeAt);
    },
    leave,
    breakOff(session) {
      const present = presentOf(session);
      if (!present) return false;
      const { attendee } = present;
      const isBack = [...(peers.get(nameOf(attendee))?.values() ?? [])].some(
        ({ attendee: other, isBroken }) => !isBroken && isDevice(other, attendee) && other.spokeAt > attendee.spokeAt,
      );
      if (isBack) leave(session);
      else put(attendee, true);
      return !isBack;
    },
    news() {
      const [joined, updated, left]: [Attendee[][], Attendee[][], string[]] = [[], [], []];
      for (const participant of changed) {
        const sessions = [...sessionsOf(participant)];
        if (sessions.length > 0) (announced.has(participant) ? updated : joined).push(sessions);
        else if (announced.has(participant)) left.push(participant);
        if (sessions.length > 0) announced.add(participant);
        else announced.delete(participant);
      }
      changed.clear();
      return joined.length + updated.length + left.length > 0 ? { joined, updated, left } : undefined;
    },
    participants: () => [...peers.keys()].map(sessionsOf),
  };
}

const nameOf = (attendee: Pick<Attendee, "participantKind" | "participantId">): string =>
  participantName(attendee.participantKind, attendee.participantId);

/** Another session of the same device, if both named their device. */
const isDevice = (one: Attendee, other: Attendee): boolean =>
  one.session !== other.session && one.clientId !== null && one.clientId === other.clientId;

const isSame = (one: Attendee, other: Attendee): boolean =>
  one.state === other.state &&
  one.spokeAt === other.spokeAt &&
  one.clientId === other.clientId &&
  nameOf(one) === nameOf(other);

const byRecency = (a: Attendee, b: Attendee): number =>
  b.spokeAt - a.spokeAt || (a.session < b.session ? -1 : a.session > b.session ? 1 : 0);
