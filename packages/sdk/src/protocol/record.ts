import { type Static, Type } from "typebox";
import { limits } from "./limits.ts";
import { OnStale } from "./stale.ts";

const WriteKeys = {
  claim: Type.Optional(Type.String()),
  onStale: Type.Optional(OnStale),
  readAt: Type.Optional(Type.Integer({ minimum: 0 })),
  idempotencyKey: Type.Optional(Type.String()),
  clientTxId: Type.Optional(Type.String()),
  clientId: Type.Optional(Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` })),
};
const Data = Type.Record(Type.String(), Type.Unknown());
const strict = { additionalProperties: false };

/** `id` is required of every model but `favorite`, which may leave it to the server. */
export const CreateBody = Type.Object({ data: Data, id: Type.Optional(Type.String()), ...WriteKeys }, strict);
export type CreateBody = Static<typeof CreateBody>;

/** `data` may be left out by `favorite` alone; `id`, when sent, has to equal the path's. */
export const UpdateBody = Type.Object(
  { data: Type.Optional(Data), id: Type.Optional(Type.String()), ...WriteKeys },
  strict,
);
export type UpdateBody = Static<typeof UpdateBody>;

/** Body of delete, archive and unarchive; it may be left out. */
export const BareWriteBody = Type.Object(WriteKeys, strict);
export type BareWriteBody = Static<typeof BareWriteBody>;

export const Claim = Type.Object({
  id: Type.String(),
  actor: Type.String(),
  participantKind: Type.String(),
  action: Type.String(),
  field: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Type.String()),
});

/** One record as read. `stamp` is the head of the log before the record was looked at. */
export const ReadEnvelope = Type.Object({
  object: Type.Literal("model"),
  model: Type.String(),
  id: Type.String(),
  data: Data,
  stamp: Type.Integer(),
  claims: Type.Array(Claim),
  syncId: Type.Integer(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  updatedBy: Type.String(),
  archivedAt: Type.Union([Type.String(), Type.Null()]),
});
export type ReadEnvelope = Static<typeof ReadEnvelope>;
