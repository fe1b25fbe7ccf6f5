import { PARTICIPANT_KINDS, type ParticipantKind } from "@holdfast/sdk/protocol";

import type { Budget } from "./budget.ts";

/** A secret key belongs to a backend, a capability to an agent, an ephemeral key to a person's browser. */
export type TokenKind = "secret_key" | "capability" | "ephemeral_key";

/** The authenticated caller: one participant of one tenant. */
export interface Principal {
  /** The tenant's number in the database. */
  readonly tenant: number;
  readonly organization: string;
  readonly livemode: boolean;
  /** The datasource whose database holds the tenant's records and log. Null: the service's own database. */
  readonly database: string | null;
  readonly participantKind: ParticipantKind;
  readonly participantId: string;
  readonly tokenId: string;
  readonly tokenKind: TokenKind;
  /** ISO; null for a token without an expiry. */
  readonly expiresAt: string | null;
  /** Undefined: everything in its tenant, as for a secret key. */
  readonly scope: Scope | undefined;
}

/** What a scoped token may do, and with which records. */
export interface Scope {
  /** `<model>.<read|create|update|delete|*>`, `*.read`, `*.*`, `claim.preempt`, `claim.reorder`; models in lower case. */
  readonly operations: ReadonlySet<string>;
  /** Undefined: every record of the organization. */
  readonly groups: ReadonlySet<string> | undefined;
  /** The groups that the token names, whether or not it is limited to them. */
  readonly memberOf: ReadonlySet<string>;
  /** Participants for whom it may write; `*` is everyone. */
  readonly onBehalfOf: ReadonlySet<string>;
  /** Undefined: it may write any number of commits. */
  readonly budget: Budget | undefined;
}

/** `<kind>:<id>`: the participant's name within its tenant. */
export const participantName = (kind: ParticipantKind, id: string): string => `${kind}:${id}`;

export const nameOf = ({
  participantKind,
  participantId,
}: Pick<Principal, "participantKind" | "participantId">): string => participantName(participantKind, participantId);

/** `<organization>/<live|test>/<kind>/<participant>`: the participant and tenant that a client's store belongs to. */
export const ownerName = ({
  organization,
  livemode,
  participantKind,
  participantId,
}: Pick<Principal, "organization" | "livemode" | "participantKind" | "participantId">): string =>
  `${organization}/${livemode ? "live" : "test"}/${participantKind}/${participantId}`;

/** Parses a participant's name: a kind, and an id without spaces. Undefined if it is invalid. */
export function readParticipantName(text: string): string | undefined {
  const colon = text.indexOf(":");
  const kind = PARTICIPANT_KINDS.find((known) => known === text.slice(0, Math.max(colon, 0)));
  const id = text.slice(colon + 1);
  return kind && /^[^\s\0]{1,255}$/.test(id) ? participantName(kind, id) : undefined;
}
