import { type Static, Type } from "typebox";
import { Claim } from "../claims/claim.ts";

/** What the caller would have needed. The last four keys are only there for a denied update of a favorite. */
export const RequiredCapability = Type.Object({
  /** `read`, `create`, `update` or `delete`. */
  can: Type.String(),
  model: Type.String(),
  /** A group in which the request would have been allowed, if the caller may see one. */
  syncGroup: Type.String(),
  /** `<model>.<can>`: the operation that a new token needs. */
  scope: Type.String(),
  constraints: Type.Optional(Type.Object({ model: Type.String(), syncGroup: Type.String() })),
  /** The organization whose secret key creates such a token. */
  issuer: Type.Optional(Type.String()),
  ttlSeconds: Type.Optional(Type.Integer()),
  nonce: Type.Optional(Type.String()),
});
export type RequiredCapability = Static<typeof RequiredCapability>;

/** Every error body over HTTP, and every error frame on the stream. */
export const ErrorEnvelope = Type.Object({
  /** Coarse class of the error. */
  type: Type.String(),
  /** For people; can change. */
  message: Type.String(),
  /** The code, for programs; it is stable. */
  code: Type.String(),
  /** Where in the request the error is. */
  param: Type.Optional(Type.String()),
  /** The documentation of this code. */
  doc_url: Type.Optional(Type.String()),
  /** The same as the answer's `x-request-id`. */
  request_id: Type.Optional(Type.String()),
  requiredCapability: Type.Optional(RequiredCapability),
  /** Bulk only: the index of the failed commit that this one depends on. */
  blockedBy: Type.Optional(Type.Integer()),
  /** `claim_conflict` and `claim_lost`: who holds the record now. */
  claims: Type.Optional(Type.Array(Claim)),
  /** `schema_incompatible` only: the problems of the change. */
  problems: Type.Optional(
    Type.Array(Type.Object({ model: Type.String(), field: Type.Optional(Type.String()), problem: Type.String() })),
  ),
});
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
