import { type Static, Type } from "typebox";
import { RequiredCapability } from "./error.ts";
import { limits } from "./limits.ts";
import { Operation, type Operation as OperationType, Read } from "./operation.ts";
import { StaleNotification } from "./stale.ts";

const ClientNames = {
  /** The caller's name for the commit; 1 to 255 visible ASCII, unique per participant. */
  clientTxId: Type.Optional(Type.String()),
  /** One per device and signed-in user, up to 64 of `[A-Za-z0-9_-]`: a client does not conflict with itself. */
  clientId: Type.Optional(Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` })),
  idempotencyKey: Type.Optional(Type.String()),
};

/** Body of `POST /v1/commits`: operations that happen together or not at all. */
export const CommitBody = Type.Object(
  {
    operations: Type.Array(Operation, { minItems: 1, maxItems: limits.operationsPerCommit }),
    reads: Type.Optional(Type.Array(Read, { maxItems: limits.readsPerCommit })),
    ...ClientNames,
  },
  { additionalProperties: false },
);
export type CommitBody = Omit<Static<typeof CommitBody>, "operations"> & { operations: OperationType[] };

/** Body of `POST /v1/commits/bulk`: commits in order, each atomic alone. Each is checked by itself. */
export const BulkBody = Type.Object(
  { commits: Type.Array(Type.Unknown(), { minItems: 1, maxItems: limits.commitsPerBulk }) },
  { additionalProperties: false },
);
export type BulkBody = Static<typeof BulkBody>;

/** What a write is answered with, and what the same key is answered with ever after. */
export const CommitReceipt = Type.Object({
  object: Type.Literal("commit_receipt"),
  clientTxId: Type.String(),
  serverTxId: Type.String(),
  success: Type.Boolean(),
  status: Type.Union([Type.Literal("confirmed"), Type.Literal("rejected")]),
  /** The last entry written, else the head of the log. */
  lastSyncId: Type.Optional(Type.Integer()),
  logId: Type.Optional(Type.String()),
  ops: Type.Optional(Type.Integer()),
  /** Ids of operations that matched no record; absent when none missed. */
  missingIds: Type.Optional(Type.Array(Type.String())),
  notifications: Type.Optional(Type.Array(StaleNotification)),
  /** Favorite only: the id that was made for a create without one. */
  id: Type.Optional(Type.String()),
  error: Type.Optional(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
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
    Type.Intersect([Type.Object({ httpStatus: Type.Integer() }), Type.Record(Type.String(), Type.Unknown())]),
  ),
});
export type BulkReply = Static<typeof BulkReply>;
