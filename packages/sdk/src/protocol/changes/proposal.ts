import { type Static, Type } from "typebox";
import { ACTIONS, type Action } from "../commits/action.ts";
import { attributionKeys } from "../commits/attribution.ts";
import { FieldChanges } from "../commits/operation.ts";
import { OnStale } from "../commits/stale.ts";
import { limits } from "../limits.ts";

const strict = { additionalProperties: false };
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
const Values = Type.Record(Type.String(), Type.Unknown());

export const PROPOSAL_STATUSES = ["open", "accepted", "rejected", "withdrawn", "expired"] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];
const Status = Type.Unsafe<ProposalStatus>(Type.Union(PROPOSAL_STATUSES.map((status) => Type.Literal(status))));

/** One operation of a proposal. */
export const ProposedOperation = Type.Object({
  action: Type.Unsafe<Action>(Type.Union(ACTIONS.map((action) => Type.Literal(action)))),
  /** As declared. */
  model: Type.String(),
  id: Type.String(),
  /** The values that it sets. */
  data: Type.Optional(Values),
  /** The changes that it makes, as those of a commit. */
  changes: Type.Optional(FieldChanges),
  /** Of an update: the values of the fields that it changes, as they were when it was proposed. */
  base: Type.Optional(Values),
});
export type ProposedOperation = Static<typeof ProposedOperation>;

/** What was taken of a proposal. */
const Taken = Type.Object(
  {
    /** Its place in `operations`, from 0. */
    operation: Type.Integer({ minimum: 0 }),
    /** Of a create or an update: only these fields. Absent: all. */
    fields: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: limits.schemaFields })),
  },
  strict,
);

/** A write that its author asks for. It stands beside the log until it is decided. */
export const Proposal = Type.Object({
  object: Type.Literal("proposal"),
  id: Type.String(),
  status: Status,
  operations: Type.Array(ProposedOperation),
  /** `<participantKind>:<participantId>` of the participant who asks. */
  author: Type.String(),
  /** Its name, by its author. */
  clientTxId: Type.String(),
  branch: Nullable(Type.String()),
  /** The head of the log when it was proposed: what others changed since is asked when it is accepted. */
  readAt: Type.Integer(),
  /** The log that positions count in. */
  logId: Type.String(),
  ...attributionKeys,
  createdAt: Type.String(),
  /** It can be decided until then. */
  expiresAt: Type.String(),
  /** How it ended. Null: it is open, or has expired. */
  decision: Nullable(
    Type.Object({
      /** `<participantKind>:<participantId>` */
      by: Type.String(),
      at: Type.String(),
      /** A word to the author. */
      reason: Type.Optional(Type.String()),
      /** What was accepted. Absent: all of it. */
      take: Type.Optional(Type.Array(Taken)),
      /** Whether the reviewer has corrected values. */
      edited: Type.Optional(Type.Literal(true)),
      /** Of an accepted proposal: the position of its last change in the log. */
      syncId: Type.Optional(Type.Integer()),
    }),
  ),
});
export type Proposal = Static<typeof Proposal>;

/** Body of an acceptance; optional. */
export const AcceptBody = Type.Object(
  {
    /** Absent: all of it. What is not taken is dropped. */
    take: Type.Optional(Type.Array(Taken, { minItems: 1, maxItems: limits.operationsPerCommit })),
    /** What happens if others changed the same fields since it was proposed. Default `notify`: nothing is written, and the receipt says what they wrote. */
    onStale: Type.Optional(OnStale),
    /** A later position than the proposal's, whose changes the reviewer has seen. */
    readAt: Type.Optional(Type.Integer({ minimum: 0 })),
    /** A word to the author. */
    reason: attributionKeys.reason,
    clientTxId: Type.Optional(Type.String()),
    /** The same as the `Idempotency-Key` header. */
    idempotencyKey: Type.Optional(Type.String()),
    logId: Type.Optional(Type.String()),
  },
  strict,
);
export type AcceptBody = Static<typeof AcceptBody>;

/** Body of a rejection or a withdrawal; optional. */
export const EndProposalBody = Type.Object({ reason: attributionKeys.reason }, strict);
export type EndProposalBody = Static<typeof EndProposalBody>;
