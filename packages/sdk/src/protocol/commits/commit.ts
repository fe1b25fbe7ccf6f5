import { type Static, Type } from "typebox";
import { Decide } from "../changes/decide.ts";
import { Propose } from "../changes/propose.ts";
import { ErrorEnvelope, RequiredCapability } from "../errors/error.ts";
import { limits } from "../limits.ts";
import { attributionKeys } from "./attribution.ts";
import { Operation, type OperationBody, Read } from "./operation.ts";
import { StaleNotification } from "./stale.ts";

const ClientNames = {
  /** The caller's name for the commit; 1 to 255 visible ASCII, unique per participant. */
  clientTxId: Type.Optional(Type.String()),
  /** One per device and signed-in user, up to 64 of `[A-Za-z0-9_-]`: a client does not conflict with itself. */
  clientId: Type.Optional(Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` })),
  /**
   * The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore),
   * the write is 409 `other_log`.
   */
  logId: Type.Optional(Type.String()),
  /** The same as the `Idempotency-Key` header; both and different is refused. */
  idempotencyKey: Type.Optional(Type.String()),
};

/** Body of `POST /v1/commits`: operations that are applied together or not at all. */
export const CommitBody = Type.Object(
  {
    /** The operations, in this order. */
    operations: Type.Array(Operation, { minItems: 1, maxItems: limits.operationsPerCommit }),
    /** What the commit depends on. A changed premise applies its own policy to the whole commit. */
    reads: Type.Optional(Type.Array(Read, { maxItems: limits.readsPerCommit })),
    ...ClientNames,
    ...attributionKeys,
    /** Asks for the write instead of making it. A token that may only propose always asks. */
    propose: Type.Optional(Propose),
    /** The commit decides a proposal. */
    decide: Type.Optional(Decide),
  },
  { additionalProperties: false },
);
export type CommitBody = Omit<Static<typeof CommitBody>, "operations"> & { operations: OperationBody[] };

/** Body of `POST /v1/commits/bulk`: commits in order, each atomic and checked by itself. */
export const BulkBody = Type.Object(
  /** Each as the body of `POST /v1/commits`, and each names itself by `clientTxId` or `idempotencyKey`. */
  { commits: Type.Array(Type.Unknown(), { minItems: 1, maxItems: limits.commitsPerBulk }) },
  { additionalProperties: false },
);
export type BulkBody = Static<typeof BulkBody>;

/** The response to a write, and to every retry with the same key. */
export const CommitReceipt = Type.Object({
  object: Type.Literal("commit_receipt"),
  /** The name of the commit: the caller's, else the idempotency key, else a generated one. */
  clientTxId: Type.String(),
  /** The server's name for it. */
  serverTxId: Type.String(),
  /** Whether it was written. */
  success: Type.Boolean(),
  /**
   * `rejected` with status 200: held by `onStale: "notify"`, nothing was written. `proposed`: it is a proposal, and
   * nothing was written yet.
   */
  status: Type.Union([Type.Literal("confirmed"), Type.Literal("rejected"), Type.Literal("proposed")]),
  /** The id of the proposal that it became. */
  proposal: Type.Optional(Type.String()),
  /** The last entry written, else the head of the log. */
  lastSyncId: Type.Optional(Type.Integer()),
  /** The log that positions count in. */
  logId: Type.Optional(Type.String()),
  /** Requested operations. */
  ops: Type.Optional(Type.Integer()),
  /** Ids of operations that matched no record; absent if all matched. */
  missingIds: Type.Optional(Type.Array(Type.String())),
  /** Why the write was held: one notification for each record or premise that changed. */
  notifications: Type.Optional(Type.Array(StaleNotification)),
  /** Favorite only: the id generated for a create without one; of several, the first. */
  id: Type.Optional(Type.String()),
  /** Why it was rejected. */
  error: Type.Optional(
    Type.Object({
      /** One of the codes of `/docs/errors`. */
      code: Type.String(),
      message: Type.String(),
      /** Where in the request the reason is. */
      field: Type.Optional(Type.String()),
      requiredCapability: Type.Optional(RequiredCapability),
    }),
  ),
});
export type CommitReceipt = Static<typeof CommitReceipt>;

/** Response to a bulk: one item per commit, in order, each with the status that it would have alone. */
export const BulkReply = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Intersect([
      Type.Object({
        /** The status that this commit would have alone. */
        httpStatus: Type.Integer(),
      }),
      Type.Union([CommitReceipt, ErrorEnvelope]),
    ]),
  ),
});
export type BulkReply = Static<typeof BulkReply>;
