import { type Static, Type } from "typebox";
import { Propose } from "../changes/propose.ts";
import { Claim } from "../claims/claim.ts";
import { attributionKeys } from "../commits/attribution.ts";
import { FieldChanges } from "../commits/operation.ts";
import { OnStale } from "../commits/stale.ts";
import { limits } from "../limits.ts";

const WriteKeys = {
  /** Id of the claim that the write is bound to. `intent` means the same. */
  claim: Type.Optional(Type.String()),
  /**
   * What happens if the record has changed since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge`
   * are `notify`.
   */
  onStale: Type.Optional(OnStale),
  /** The log position that the write is based on; absent: it is not checked. */
  readAt: Type.Optional(Type.Integer({ minimum: 0 })),
  /**
   * The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore),
   * the write is 409 `other_log`.
   */
  logId: Type.Optional(Type.String()),
  /** The same as the `Idempotency-Key` header; both and different is refused. */
  idempotencyKey: Type.Optional(Type.String()),
  /**
   * The fence that the caller's claim was granted with. If there has been another grant since, the write is refused.
   */
  fenceToken: Type.Optional(Type.Integer({ minimum: 0 })),
  /** The caller's name for the commit; 1 to 255 visible ASCII, unique per participant. */
  clientTxId: Type.Optional(Type.String()),
  /** One per device and signed-in user: a client does not conflict with itself. */
  clientId: Type.Optional(Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` })),
  ...attributionKeys,
  /** Asks for the write instead of making it. A token that may only propose always asks. */
  propose: Type.Optional(Propose),
};
/** The record's fields, as the pushed schema declares them. */
const Data = Type.Record(Type.String(), Type.Unknown());
const strict = { additionalProperties: false };

/** `id` is required, except for `favorite`, where the server can generate it. */
export const CreateBody = Type.Object({ data: Data, id: Type.Optional(Type.String()), ...WriteKeys }, strict);
export type CreateBody = Static<typeof CreateBody>;

/** Needs `data` or `changes`; only `favorite` can omit both. If `id` is sent, it must equal the id in the path. */
export const UpdateBody = Type.Object(
  { data: Type.Optional(Data), changes: Type.Optional(FieldChanges), id: Type.Optional(Type.String()), ...WriteKeys },
  strict,
);
export type UpdateBody = Static<typeof UpdateBody>;

/** Body of delete, archive and unarchive; optional. */
export const BareWriteBody = Type.Object(WriteKeys, strict);
export type BareWriteBody = Static<typeof BareWriteBody>;

/** One record. `stamp` is the head of the log before the record was read. */
export const ReadEnvelope = Type.Object({
  object: Type.Literal("model"),
  model: Type.String(),
  id: Type.String(),
  data: Data,
  /** Head of the log before the record was read. */
  stamp: Type.Integer(),
  /** The claims that are held on it now. */
  claims: Type.Array(Claim),
  /** Position of the record's last entry: send it as `readAt` of a write. */
  syncId: Type.Integer(),
  createdAt: Type.String(),
  /** `<participantKind>:<participantId>` of the participant that created it. */
  createdBy: Type.String(),
  updatedAt: Type.String(),
  /** `<participantKind>:<participantId>` of the last writer. */
  updatedBy: Type.String(),
  /** Null: it is not archived. */
  archivedAt: Type.Union([Type.String(), Type.Null()]),
});
export type ReadEnvelope = Static<typeof ReadEnvelope>;
