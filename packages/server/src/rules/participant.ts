import type { ParticipantKind } from "@holdfast/sdk/protocol";

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
