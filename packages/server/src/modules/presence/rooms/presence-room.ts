import type { ParticipantKind } from "@holdfast/sdk/protocol";
import { participantName } from "../../../kernel/tokens/rules/participant.ts";

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
  /** A session in the room, living or broken. */
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
   * The connection broke: the session may come back for a while. Returns false if the device already has a newer
   * session; then this one is removed at once.
   */
  breakOff(session: string, until: number): boolean;
  /** Broken sessions whose time to come back is over. */
  overdue(now: number): readonly string[];
  /** There may be news. */
  readonly hasChanged: boolean;
  /** The changes since the last call. Undefined if there are none. */
  news(): RoomNews | undefined;
  participants(): readonly (readonly Attendee[])[];
}

export function createPresenceRoom(): PresenceRoom {
  /** Participant → session → its state. */
  const peers = new Map<string, Map<string, Attendee>>();
  const participantBySession = new Map<string, string>();
  /** Broken sessions, and until when they may come back. */
  const broken = new Map<string, number>();
  /** Participants that the members know of, and participants that may have changed. */
  const announced = new Set<string>();
  const changed = new Set<string>();
  let newest = 0;

  const attendeeOf = (session: string): Attendee | undefined => {
    const participant = participantBySession.get(session);
    return participant === undefined ? undefined : peers.get(participant)?.get(session);
  };

  function put(attendee: Attendee): Map<string, Attendee> {
    const participant = nameOf(attendee);
    let sessions = peers.get(participant);
    if (!sessions) {
      sessions = new Map();
      peers.set(participant, sessions);
    }
    sessions.set(attendee.session, attendee);
    participantBySession.set(attendee.session, participant);
    return sessions;
  }

  function leave(session: string): void {
    const participant = participantBySession.get(session);
    const sessions = participant === undefined ? undefined : peers.get(participant);
    if (participant === undefined || !sessions) return;
    broken.delete(session);
    participantBySession.delete(session);
    sessions.delete(session);
    if (sessions.size === 0) peers.delete(participant);
    changed.add(participant);
  }

  const sessionsOf = (participant: string): readonly Attendee[] =>
    [...(peers.get(participant)?.values() ?? [])].sort(byRecency);

  return {
    get newest() {
      return newest;
    },
    attendee: attendeeOf,
    update(attendee) {
      const before = attendeeOf(attendee.session);
      broken.delete(attendee.session);
      newest = Math.max(newest, attendee.spokeAt);
      // Members do not see whether a connection is broken, so coming back unchanged is no news.
      if (before && isSame(before, attendee)) return [];
      // A socket may send another hello as a different participant.
      if (before && nameOf(before) !== nameOf(attendee)) leave(attendee.session);
      const sessions = put(attendee);
      changed.add(nameOf(attendee));
      const replaced = [...sessions.values()].filter((other) => broken.has(other.session) && isDevice(other, attendee));
      for (const { session } of replaced) leave(session);
      return replaced.map(({ session }) => session);
    },
    isUnchanged(attendee) {
      const before = attendeeOf(attendee.session);
      if (!before || broken.has(before.session) || !isSame(before, { ...attendee, spokeAt: before.spokeAt }))
        return false;
      return [...(peers.get(nameOf(before))?.values() ?? [])].every(({ spokeAt }) => spokeAt <= before.spokeAt);
    },
    leave,
    breakOff(session, until) {
      const attendee = attendeeOf(session);
      if (!attendee) return false;
      const isBack = [...(peers.get(nameOf(attendee))?.values() ?? [])].some(
        (other) => !broken.has(other.session) && isDevice(other, attendee) && other.spokeAt > attendee.spokeAt,
      );
      if (isBack) leave(session);
      else broken.set(session, until);
      return !isBack;
    },
    overdue: (now) => [...broken].flatMap(([session, until]) => (until <= now ? session : [])),
    get hasChanged() {
      return changed.size > 0;
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
