import type { JsonObject } from "../json.ts";
import type { ParticipantKind } from "../log/log.ts";

/** One socket of a participant in a room. */
export interface PeerSession {
  /** `ses_…`, as in that socket's `welcome`. */
  session: string;
  /** The device, when it said so. */
  clientId: string | null;
  /** What it last said of itself; replaced as a whole. */
  state: JsonObject;
}

/** A participant in a room, once, however many windows it has open. */
export interface Peer {
  /** `<participantKind>:<participantId>` */
  participant: string;
  participantKind: ParticipantKind;
  participantId: string;
  /** The one that spoke last comes first. */
  sessions: PeerSession[];
}
