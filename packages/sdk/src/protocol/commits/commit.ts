import { type Static, Type } from "typebox";
import { ErrorEnvelope, RequiredCapability } from "../errors/error.ts";
import { limits } from "../limits.ts";
import { Operation, type OperationBody, Read } from "./operation.ts";
import { StaleNotification } from "./stale.ts";

const ClientNames = {
  /** The caller's name for the commit; 1 to 255 visible ASCII, unique per participant. */
  clientTxId: Type.Optional(Type.String()),
  /** One per device and signed-in user, up to 64 of `[A-Za-z0-9_-]`: a client does not conflict with itself. */
  clientId: Type.Optional(Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` })),
  /** The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`. */
  logId: Type.Optional(Type.String()),
  /** The same as the `Idempotency-Key` header; both and different is refused. */
  idempotencyKey: Type.Optional(Type.String()),
};

/** Body of `POST /v1/commits`: operations that happen together or not at all. */
export const CommitBody = Type.Object(
  {
    /** What happens, in this order. */
    operations: Type.Array(Operation, { minItems: 1, maxItems: limits.operationsPerCommit }),
    /** What the commit rests on: a premise that moved fires its own policy over the whole commit. */
    reads: Type.Optional(Type.Array(Read, { maxItems: limits.readsPerCommit })),
    ...ClientNames,
  },
  { additionalProperties: false },
);
export type CommitBody = Omit<Static<typeof CommitBody>, "operations"> & { operations: OperationBody[] };

/** Body of `POST /v1/commits/bulk`: commits in order, each atomic alone. Each is checked by itself. */
export const BulkBody = Type.Object(
  /** Each as the body of `POST /v1/commits`, and each names itself by `clientTxId` or `idempotencyKey`. */
  { commits: Type.Array(Type.Unknown(), { minItems: 1, maxItems: limits.commitsPerBulk }) },
  { additionalProperties: false },
);
export type BulkBody = Static<typeof BulkBody>;

/** What a write is answered with, and what the same key is answered with ever after. */
export const CommitReceipt = Type.Object({
  object: Type.Literal("commit_receipt"),
  /** The caller's name for the commit: its own, else the idempotency key, else one that was made. */
  clientTxId: Type.String(),
  /** The server's name for it. */
  serverTxId: Type.String(),
  /** Whether it was written. */
  success: Type.Boolean(),
  /** `rejected` with status 200: held by `onStale: "notify"`, nothing was written. */
  status: Type.Union([Type.Literal("confirmed"), Type.Literal("rejected")]),
  /** The last entry written, else the head of the log. */
  lastSyncId: Type.Optional(Type.Integer()),
  /** The log that positions count in. */
  logId: Type.Optional(Type.String()),
  /** Operations that were asked for. */
  ops: Type.Optional(Type.Integer()),
  /** Ids of operations that matched no record; absent when none missed. */
  missingIds: Type.Optional(Type.Array(Type.String())),
  /** Why the write was held: one notice for each record or premise that moved. */
  notifications: Type.Optional(Type.Array(StaleNotification)),
  /** Favorite only: the id that was made for a create without one, the first when there were several. */
  id: Type.Optional(Type.String()),
  /** Why it was rejected. */
  error: Type.Optional(
    Type.Object({
      /** One of the codes of `/docs/errors`. */
      code: Type.String(),
      message: Type.String(),
      /** Where in the request the reason lies. */
      field: Type.Optional(Type.String()),
      requiredCapability: Type.Optional(RequiredCapability),
    }),
  ),
});
export type CommitReceipt = Static<typeof CommitReceipt>;

/** Answer of a bulk: one item per commit, in order, each with the status it would have had alone. */
export const BulkReply = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Intersect([
      Type.Object({
        /** The status that this commit would have had alone. */
        httpStatus: Type.Integer(),
      }),
      Type.Union([CommitReceipt, ErrorEnvelope]),
    ]),
  ),
});
export type BulkReply = Static<typeof BulkReply>;
