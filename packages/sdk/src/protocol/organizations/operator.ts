import { type Static, Type } from "typebox";

const strict = { additionalProperties: false };

export const OrganizationBody = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) }, strict);
export const Organization = Type.Object({
  object: Type.Literal("organization"),
  id: Type.String(),
  name: Type.String(),
  createdAt: Type.String(),
});
export type Organization = Static<typeof Organization>;

export const SecretKeyBody = Type.Object(
  {
    organization: Type.String(),
    /** True: a key of the live tenant; false: of the test tenant. */
    livemode: Type.Boolean(),
    label: Type.Optional(Type.String({ maxLength: 200 })),
  },
  strict,
);
/** `token` is only in the response that creates it. */
export const SecretKey = Type.Object({
  object: Type.Literal("secret_key"),
  id: Type.String(),
  organization: Type.String(),
  livemode: Type.Boolean(),
  label: Type.Union([Type.String(), Type.Null()]),
  last4: Type.String(),
  createdAt: Type.String(),
  revokedAt: Type.Union([Type.String(), Type.Null()]),
  token: Type.Optional(Type.String()),
});
export type SecretKey = Static<typeof SecretKey>;

export const RevokeBody = Type.Object(
  /** How long the key still opens; default 0: it ends now. */
  { graceSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })) },
  strict,
);
export const Deleted = Type.Object({ object: Type.String(), id: Type.String(), deleted: Type.Literal(true) });
