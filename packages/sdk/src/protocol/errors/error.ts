import { type Static, Type } from "typebox";
import { Claim } from "../claims/claim.ts";

/** What the caller would have needed. The last four keys are only there for a denied update of a favorite. */
export const RequiredCapability = Type.Object({
  /** `read`, `create`, `update`, `delete` or `propose`. */
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

/** Why a table or an endpoint did not take a write, in their own words. */
export const SourceRefusal = Type.Object({
  /**
   * Of a table. Five characters, as Postgres documents them: `23505` for a value that is taken, `P0001` for a trigger's
   * exception.
   */
  sqlstate: Type.Optional(Type.String()),
  /** Of an endpoint: its own code. */
  code: Type.Optional(Type.String()),
  constraint: Type.Optional(Type.String()),
  table: Type.Optional(Type.String()),
  column: Type.Optional(Type.String()),
});
export type SourceRefusal = Static<typeof SourceRefusal>;

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
  /** `rule_broken` only: the option of the field that the value breaks, such as `maxLength`. */
  rule: Type.Optional(Type.String()),
  /** `not_unique` only: the fields whose values count together. */
  fields: Type.Optional(Type.Array(Type.String())),
  /**
   * `not_unique`: the record that has the value. `still_referenced`: some of the records that reference it. Only records
   * that the caller may read.
   */
  records: Type.Optional(Type.Array(Type.Object({ model: Type.String(), id: Type.String() }))),
  /** `source_refused` only: what the database that has the rows says. */
  source: Type.Optional(SourceRefusal),
});
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
