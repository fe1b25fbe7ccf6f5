import { type Static, Type } from "typebox";
import type { JsonObject } from "../json.ts";
import { PARTICIPANT_KINDS, type ParticipantKind } from "../log/log.ts";

/** One socket of a participant in a room. */
export const PeerSession = Type.Object({
  /** `ses_…`, as in that socket's `welcome`. */
  session: Type.String(),
  /** The device, when it said so. */
  clientId: Type.Union([Type.String(), Type.Null()]),
  /** What it last said of itself; replaced as a whole. */
  state: Type.Unsafe<JsonObject>(Type.Record(Type.String(), Type.Unknown())),
});
export type PeerSession = Static<typeof PeerSession>;

/** A participant in a room, once, however many windows it has open. */
export const Peer = Type.Object({
  /** `<participantKind>:<participantId>` */
  participant: Type.String(),
  participantKind: Type.Unsafe<ParticipantKind>(Type.Union(PARTICIPANT_KINDS.map((kind) => Type.Literal(kind)))),
  participantId: Type.String(),
  /** The one that spoke last comes first. */
  sessions: Type.Array(PeerSession),
});
export type Peer = Static<typeof Peer>;
