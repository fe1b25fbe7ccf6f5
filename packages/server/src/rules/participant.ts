import { PARTICIPANT_KINDS, type ParticipantKind } from "@holdfast/sdk/protocol";

/** Who asks: one participant of one organisation in one environment (a world). */
export interface Principal {
  /** The organisation in one environment, as its small number in the database. */
  readonly world: number;
  readonly organization: string;
  readonly livemode: boolean;
  readonly participantKind: ParticipantKind;
  readonly participantId: string;
  readonly tokenId: string;
}

/** `<kind>:<id>`: the participant's name within its world. */
export const participantName = (kind: ParticipantKind, id: string): string => `${kind}:${id}`;

/** A name that a caller spelled, when it can be one: a kind, and an id without spaces. */
export function readParticipantName(text: string): string | undefined {
  const colon = text.indexOf(":");
  const kind = PARTICIPANT_KINDS.find((known) => known === text.slice(0, Math.max(colon, 0)));
  const id = text.slice(colon + 1);
  return kind && /^[^\s\0]{1,255}$/.test(id) ? participantName(kind, id) : undefined;
}

/** A secret key takes part under its own id; every other token names the participant that it speaks for. */
export const isSecretKey = ({ participantKind, participantId, tokenId }: Principal): boolean =>
  participantKind === "system" && participantId === tokenId;
