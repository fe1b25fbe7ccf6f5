import type { ParticipantKind } from "@holdfast/sdk/protocol";
import { participantName } from "../../rules/tokens/participant.ts";

/** One socket in a room, and what it last said of itself. */
export interface Attendee {
  readonly session: string;
  readonly clientId: string | null;
  readonly participantKind: ParticipantKind;
  readonly participantId: string;
  /** A JSON object, as text: it is passed on often, and never looked into. */
  readonly state: string;
  /** When it spoke: greater than whatever was heard in the room before. */
  readonly spokeAt: number;
}

/** What changed since it was last told. A participant is a list of its sessions, the one that spoke last first. */
export interface RoomNews {
  readonly joined: readonly (readonly Attendee[])[];
  readonly updated: readonly (readonly Attendee[])[];
  /** Participants, `<kind>:<id>`. */
  readonly left: readonly string[];
}

/**
 * Who is in one room: participants, each once, with their sessions inside. It keeps account of what was told, so that
 * whatever happened in between is told as one change, or as none.
 *
 *            say                     break off
 *   (away) ───────► there, living ──────────────► there, broken ───► (away)
 *                     ▲   │ leave                  │      grace over, or
 *                     │   └─────► (away)           │      its device came back
 *                     └────────────────────────────┘      with another session
 *                       say, by the same session
 */
export interface PresenceRoom {
  readonly newest: number;
  /** Whether a session is there, living or broken. */
  has(session: string): boolean;
  attendee(session: string): Attendee | undefined;
  /** Enters, or says something else. Answers the broken sessions of the same device, whose place it took. */
  say(attendee: Attendee): readonly string[];
  /** Whether it would be news: the session said the very same, and nothing else of its participant came after it. */
  isSaid(attendee: Omit<Attendee, "spokeAt">): boolean;
  leave(session: string): void;
  /** Its connection broke. False: its device is there with a later session already, so it is gone. */
  breakOff(session: string): boolean;
  /** What is new since the last time; undefined: nothing. */
  news(): RoomNews | undefined;
  everybody(): readonly (readonly Attendee[])[];
}

interface Standing {
  readonly attendee: Attendee;
  readonly isBroken: boolean;
}

export function createPresenceRoom(): PresenceRoom {
  /** Participant → session → how it stands. */
  const peers = new Map<string, Map<string, Standing>>();
  const participantBySession = new Map<string, string>();
  /** Participants that were told to be there, and those of whom there may be news. */
  const told = new Set<string>();
  const stirred = new Set<string>();
  let newest = 0;

  const standingOf = (session: string): Standing | undefined => {
    const participant = participantBySession.get(session);
    return participant === undefined ? undefined : peers.get(participant)?.get(session);
  };

  function put(attendee: Attendee, isBroken: boolean): Map<string, Standing> {
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
    stirred.add(participant);
  }

  const sessionsOf = (participant: string): readonly Attendee[] =>
    [...(peers.get(participant)?.values() ?? [])].map(({ attendee }) => attendee).sort(bySpokenLast);

  return {
    get newest() {
      return newest;
    },
    has: (session) => participantBySession.has(session),
    attendee: (session) => standingOf(session)?.attendee,
    say(attendee) {
      const before = standingOf(attendee.session);
      newest = Math.max(newest, attendee.spokeAt);
      // Nobody else is told whether a connection is broken.
      if (before && isSame(before.attendee, attendee)) {
        put(before.attendee, false);
        return [];
      }
      // A socket may say hello again as somebody else.
      if (before && nameOf(before.attendee) !== nameOf(attendee)) leave(attendee.session);
      const sessions = put(attendee, false);
      stirred.add(nameOf(attendee));
      const replaced = [...sessions.values()].filter(
        ({ isBroken, attendee: other }) => isBroken && isDevice(other, attendee),
      );
      for (const { attendee: other } of replaced) leave(other.session);
      return replaced.map(({ attendee: other }) => other.session);
    },
    isSaid(attendee) {
      const before = standingOf(attendee.session);
      if (!before || before.isBroken || !isSame(before.attendee, { ...attendee, spokeAt: before.attendee.spokeAt }))
        return false;
      const spoke = [...(peers.get(nameOf(attendee))?.values() ?? [])].map(({ attendee: { spokeAt } }) => spokeAt);
      return spoke.every((spokeAt) => spokeAt <= before.attendee.spokeAt);
    },
    leave,
    breakOff(session) {
      const standing = standingOf(session);
      if (!standing) return false;
      const { attendee } = standing;
      const isBack = [...(peers.get(nameOf(attendee))?.values() ?? [])].some(
        ({ attendee: other, isBroken }) => !isBroken && isDevice(other, attendee) && other.spokeAt > attendee.spokeAt,
      );
      if (isBack) leave(session);
      else put(attendee, true);
      return !isBack;
    },
    news() {
      const [joined, updated, left]: [Attendee[][], Attendee[][], string[]] = [[], [], []];
      for (const participant of stirred) {
        const sessions = [...sessionsOf(participant)];
        if (sessions.length > 0) (told.has(participant) ? updated : joined).push(sessions);
        else if (told.has(participant)) left.push(participant);
        if (sessions.length > 0) told.add(participant);
        else told.delete(participant);
      }
      stirred.clear();
      return joined.length + updated.length + left.length > 0 ? { joined, updated, left } : undefined;
    },
    everybody: () => [...peers.keys()].map(sessionsOf),
  };
}

const nameOf = (attendee: Pick<Attendee, "participantKind" | "participantId">): string =>
  participantName(attendee.participantKind, attendee.participantId);

/** Another session of the same device, as far as it said which one it is. */
const isDevice = (one: Attendee, other: Attendee): boolean =>
  one.session !== other.session && one.clientId !== null && one.clientId === other.clientId;

const isSame = (one: Attendee, other: Attendee): boolean =>
  one.state === other.state &&
  one.spokeAt === other.spokeAt &&
  one.clientId === other.clientId &&
  nameOf(one) === nameOf(other);

const bySpokenLast = (a: Attendee, b: Attendee): number =>
  b.spokeAt - a.spokeAt || (a.session < b.session ? -1 : a.session > b.session ? 1 : 0);
