import { type Static, Type } from "typebox";
import { attributionKeys } from "../commits/attribution.ts";
import { limits } from "../limits.ts";
import { PARTICIPANT_KINDS, type ParticipantKind } from "../log/log.ts";

export const CLAIM_STATUSES = ["active", "queued", "released", "expired", "canceled", "preempted"] as const;
/** `active` and `queued` are alive; the others are how a claim ended. */
export type ClaimStatus = (typeof CLAIM_STATUSES)[number];

const strict = { additionalProperties: false };
const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const ClientId = Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` });

const { run, onBehalfOf } = attributionKeys;
/** As of a commit: in which run it is made, and for whom. Its reason is the description. */
const forWhom = { run, onBehalfOf };

/** A lease on a record or one of its fields, or a place in its claim queue. */
export const Claim = Type.Object({
  object: Type.Literal("claim"),
  id: Type.String(),
  /** Participant id of the holder or waiter. */
  actor: Type.String(),
  participantKind: Type.Unsafe<ParticipantKind>(Type.Union(PARTICIPANT_KINDS.map((kind) => Type.Literal(kind)))),
  /** What the holder intends to do. */
  action: Type.String(),
  /** Absent: the claim is on the whole record. */
  field: Type.Optional(Type.String()),
  status: Type.Unsafe<ClaimStatus>(Type.Union(CLAIM_STATUSES.map((status) => Type.Literal(status)))),
  /** Increases with every grant on the record; absent before the first grant. */
  fence: Type.Optional(Type.Integer()),
  /**
   * The head of the log at the grant. Read up to there before you edit: then you have seen all that the holders
   * before you wrote. Absent as long as it was never granted.
   */
  syncId: Type.Optional(Type.Integer()),
  /** Of a waiting claim: how many are before it; 0 is next. */
  position: Type.Optional(Type.Integer()),
  /** The device that holds it or waits; shown only to its own participant, in the list of its claims. */
  clientId: Type.Optional(Type.String()),
  description: Type.Union([Type.String(), Type.Null()]),
  meta: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  ...forWhom,
  createdAt: Type.String(),
  /** Of a held claim: when the lease ends, by the database's clock. */
  expiresAt: Type.Optional(Type.String()),
  /** Of a held claim: milliseconds from this response until the lease ends. */
  expiresInMs: Type.Optional(Type.Integer()),
  /** `model` and `resource` are the same: the model, as declared. */
  target: Type.Object({
    model: Type.String(),
    resource: Type.String(),
    id: Type.String(),
    path: Type.Optional(Type.String()),
    field: Type.Optional(Type.String()),
  }),
});
export type Claim = Static<typeof Claim>;

const ClaimKeys = {
  /** What the caller intends to do; default `edit`. */
  action: Type.Optional(Text(limits.claimActionLength)),
  /** `30s`, `500ms`, `5m`, `1h`, or milliseconds: one second to one hour; default 60 s. */
  ttl: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  /** Whether to wait in the queue if someone else holds it; default false: the request fails. */
  queue: Type.Optional(Type.Boolean()),
  /** Takes the claim from an agent at once; for people and systems with `claim.preempt`. */
  preempt: Type.Optional(Type.Boolean()),
  /** A description for people. */
  description: Type.Optional(Type.String({ maxLength: limits.claimDescriptionLength })),
  /** The caller's own notes, up to 4 KiB of JSON. */
  meta: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  ...forWhom,
  /** The device that claims. It becomes the holder: another `clientId` of the same participant is another holder. */
  clientId: Type.Optional(ClientId),
};

/** Body of a claim on the record in the path; optional. */
export const ClaimBody = Type.Object(
  {
    /** Claims one field only. Claims of different fields do not conflict. */
    field: Type.Optional(Type.String()),
    ...ClaimKeys,
  },
  strict,
);
export type ClaimBody = Static<typeof ClaimBody>;

/** The same with the record in the body. */
export const ClaimTargetBody = Type.Object(
  {
    target: Type.Object({ model: Type.String(), id: Type.String(), field: Type.Optional(Type.String()) }, strict),
    ...ClaimKeys,
  },
  strict,
);
export type ClaimTargetBody = Static<typeof ClaimTargetBody>;

export const ClaimRenewBody = Type.Object(
  {
    /** As in a claim; default: the value of the claim. */
    ttl: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  },
  strict,
);
export type ClaimRenewBody = Static<typeof ClaimRenewBody>;

/** Ignored: a caller cannot choose the holder. */
const HeldBy = Type.Optional(Type.Unknown());

/** Waiting claims in their new order; others stay behind them, in their order. */
export const ClaimOrderBody = Type.Object(
  {
    order: Type.Array(Type.Union([Type.String(), Type.Object({ claimId: Type.String(), heldBy: HeldBy }, strict)]), {
      maxItems: limits.claimsWaiting,
    }),
    heldBy: HeldBy,
  },
  strict,
);
export type ClaimOrderBody = Static<typeof ClaimOrderBody>;

/** All live claims of one record: the holders, then the queue. */
export const ClaimList = Type.Object({
  object: Type.Literal("list"),
  /** Holders, then the queue. */
  data: Type.Array(Claim),
  /** The holders. */
  claims: Type.Array(Claim),
  /** The waiting claims, the next one first. */
  queue: Type.Array(Claim),
  has_more: Type.Literal(false),
  next_cursor: Type.Null(),
});
export type ClaimList = Static<typeof ClaimList>;

export const ClaimRelease = Type.Object({
  object: Type.Literal("claim_release"),
  /** Number of claims that this ended. */
  released: Type.Integer(),
});
export type ClaimRelease = Static<typeof ClaimRelease>;
