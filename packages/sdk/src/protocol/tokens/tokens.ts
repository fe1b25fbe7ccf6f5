import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";

const strict = { additionalProperties: false };
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
/** Participants for whom the token may write, `<kind>:<id>`, or `*` for everyone. */
const OnBehalfOf = Type.Array(Type.String({ pattern: "^(\\*|(user|agent|system):[^\\s]{1,255})$" }), {
  maxItems: 1_000,
});
/** What the token may write at most; 429 `budget_spent` beyond it. */
const Budget = Type.Object(
  {
    commits: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Records that its commits name, counted in each commit. */
    records: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Whether each run has that much, or all that the token does together. Default `token`. */
    per: Type.Optional(Type.Union([Type.Literal("run"), Type.Literal("token")])),
  },
  strict,
);
const Label = Type.String({ maxLength: 200 });
/** Seconds until the token expires. */
const Ttl = Type.Integer({ minimum: 1, maximum: limits.tokenTtlMaxSeconds });
/** `<model>.<read|create|update|delete>`, `<model>.*`, `*.read`, `*.*`, `claim.preempt`, `claim.reorder` */
const Operations = Type.Array(Type.String(), { maxItems: 1_000 });
/** `<kind>:<id>`; `org:<organization>` is every record. */
const SyncGroups = Type.Array(Type.String(), { maxItems: 1_000 });

/** Body of `POST /v1/capabilities`. A token for everything needs `wideScope`. */
export const CapabilityBody = Type.Object(
  {
    participantKind: Type.Optional(Type.String()),
    /** Default: the capability's own id. */
    participantId: Type.Optional(Type.String()),
    operations: Type.Optional(Operations),
    syncGroups: Type.Optional(SyncGroups),
    /** Default: no one. */
    onBehalfOf: Type.Optional(OnBehalfOf),
    /** Default: no limit. */
    budget: Type.Optional(Budget),
    /** Default 600. */
    ttlSeconds: Type.Optional(Ttl),
    label: Type.Optional(Label),
    /** Your own data, stored with the token, up to 4 096 characters of JSON. */
    userMeta: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    wideScope: Type.Optional(Type.Boolean()),
  },
  strict,
);
export type CapabilityBody = Static<typeof CapabilityBody>;

/** Body of a rotation: how long the old token stays valid, and how long the new one is. */
export const RotateBody = Type.Object(
  {
    graceSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.tokenTtlMaxSeconds })),
    ttlSeconds: Type.Optional(Ttl),
  },
  strict,
);
export type RotateBody = Static<typeof RotateBody>;

const TokenStatus = Type.Union([Type.Literal("active"), Type.Literal("expired"), Type.Literal("revoked")]);

/** An agent's token. `token` is only in the responses that create and rotate it. */
export const Capability = Type.Object({
  object: Type.Literal("capability"),
  id: Type.String(),
  capabilityId: Type.String(),
  token: Type.Optional(Type.String()),
  participantKind: Type.String(),
  participantId: Type.String(),
  operations: Type.Array(Type.String()),
  syncGroups: Type.Array(Type.String()),
  onBehalfOf: Type.Array(Type.String()),
  budget: Nullable(Budget),
  /** The token's identity and permissions. */
  scope: Type.Object({
    organizationId: Type.String(),
    participantKind: Type.String(),
    participantId: Type.String(),
    operations: Type.Array(Type.String()),
    syncGroups: Type.Array(Type.String()),
  }),
  organizationId: Type.String(),
  livemode: Type.Boolean(),
  label: Nullable(Type.String()),
  userMeta: Nullable(Type.Record(Type.String(), Type.Unknown())),
  status: TokenStatus,
  issuedAt: Type.String(),
  expiresAt: Type.String(),
  revokedAt: Nullable(Type.String()),
  /** Precise to the minute. */
  lastUsedAt: Nullable(Type.String()),
  /** The capability that this one replaced, and when that one ends or ended. */
  rotatedFrom: Type.Optional(Type.Object({ id: Type.String(), expiresAt: Type.String() })),
});
export type Capability = Static<typeof Capability>;

export const CapabilityDeleted = Type.Object({
  object: Type.Literal("capability"),
  id: Type.String(),
  deleted: Type.Literal(true),
  /** Streams that ended with it in the process that answers; those of others end within 5 s. */
  activeSessionsClosed: Type.Integer(),
});

/**
 * Body of `POST /v1/ephemeral_keys`. Defaults: every operation on each pushed model, and the group `user:<id>` alone.
 */
export const EphemeralKeyBody = Type.Object(
  {
    user: Type.Object({ id: Type.String() }, strict),
    syncGroups: Type.Optional(SyncGroups),
    operations: Type.Optional(Operations),
    /** Default 900. */
    ttlSeconds: Type.Optional(Ttl),
    label: Type.Optional(Label),
  },
  strict,
);
export type EphemeralKeyBody = Static<typeof EphemeralKeyBody>;

/** A person's token, for one browser. `token` is only in the response that creates it. */
export const EphemeralKey = Type.Object({
  object: Type.Literal("ephemeral_key"),
  id: Type.String(),
  token: Type.Optional(Type.String()),
  participantId: Type.String(),
  participantKind: Type.Literal("user"),
  operations: Type.Array(Type.String()),
  syncGroups: Type.Array(Type.String()),
  organizationId: Type.String(),
  livemode: Type.Boolean(),
  label: Nullable(Type.String()),
  status: TokenStatus,
  issuedAt: Type.String(),
  expiresAt: Type.String(),
  revokedAt: Nullable(Type.String()),
  lastUsedAt: Nullable(Type.String()),
});
export type EphemeralKey = Static<typeof EphemeralKey>;

export const EphemeralKeyDeleted = Type.Object({
  object: Type.Literal("ephemeral_key"),
  id: Type.String(),
  deleted: Type.Literal(true),
  activeSessionsClosed: Type.Integer(),
});

/** Every key of one person was revoked: a sign-out everywhere. */
export const EphemeralKeysDeleted = Type.Object({
  object: Type.Literal("ephemeral_key_revocation"),
  user: Type.String(),
  deleted: Type.Integer(),
  activeSessionsClosed: Type.Integer(),
});

/** A token's identity and permissions. */
export const Identity = Type.Object({
  object: Type.Literal("identity"),
  organization: Type.String(),
  livemode: Type.Boolean(),
  participant: Type.String(),
  participantKind: Type.String(),
  operations: Type.Array(Type.String()),
  syncGroups: Type.Array(Type.String()),
  /** For whom it may write: participants, or `*` for everyone. */
  onBehalfOf: Type.Array(Type.String()),
  budget: Nullable(Budget),
  expiresAt: Nullable(Type.String()),
  logId: Type.String(),
  /** `<organization>/<live|test>/<kind>/<participant>`: what a client's store belongs to. */
  owner: Type.String(),
  /** A fingerprint of everything that the token may read; tokens that may read the same have the same. */
  viewHash: Type.String(),
  /** The server's time, by which a client knows how far its device's clock is off. */
  serverTime: Type.Optional(Type.String()),
});
export type Identity = Static<typeof Identity>;
