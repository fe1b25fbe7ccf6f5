import { type Static, Type } from "typebox";
import { Claim } from "../claims/claim.ts";

/** What a denied caller would have needed. The last four keys come with a denied update of a favorite alone. */
export const RequiredCapability = Type.Object({
  /** `read`, `create`, `update` or `delete`. */
  can: Type.String(),
  model: Type.String(),
  /** A group in which it would have been allowed, out of those that the caller may know of. */
  syncGroup: Type.String(),
  /** `<model>.<can>`: the operation to mint the next token with. */
  scope: Type.String(),
  constraints: Type.Optional(Type.Object({ model: Type.String(), syncGroup: Type.String() })),
  /** The organization, whose secret key mints such a token. */
  issuer: Type.Optional(Type.String()),
  ttlSeconds: Type.Optional(Type.Integer()),
  nonce: Type.Optional(Type.String()),
});
export type RequiredCapability = Static<typeof RequiredCapability>;

/** Every error body over HTTP, and every error frame on the stream. */
export const ErrorEnvelope = Type.Object({
  /** Coarse class of the error. */
  type: Type.String(),
  /** For people; it may change. */
  message: Type.String(),
  /** What it is, for programs; it stays. */
  code: Type.String(),
  /** Where in the request the fault lies. */
  param: Type.Optional(Type.String()),
  /** The page on this code. */
  doc_url: Type.Optional(Type.String()),
  /** The same as the answer's `x-request-id`. */
  request_id: Type.Optional(Type.String()),
  requiredCapability: Type.Optional(RequiredCapability),
  /** Bulk only: the index of the commit that this one waited for. */
  blockedBy: Type.Optional(Type.Integer()),
  /** `claim_conflict` and `claim_lost`: who holds the record now. */
  claims: Type.Optional(Type.Array(Claim)),
  /** `schema_incompatible` only: what stands against the change. */
  problems: Type.Optional(
    Type.Array(Type.Object({ model: Type.String(), field: Type.Optional(Type.String()), problem: Type.String() })),
  ),
});
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
