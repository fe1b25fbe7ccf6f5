import { type Static, Type } from "typebox";

const text = Type.Optional(Type.String());
const whole = Type.Optional(Type.Integer());

/**
 * The database that stores a tenant's rows. Keys that do not apply to its kind are omitted; it never contains secrets.
 */
export const Datasource = Type.Object({
  object: Type.Literal("datasource"),
  id: Type.String(),
  livemode: Type.Boolean(),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  /** Unix seconds, as all times here. */
  created: Type.Integer(),
  provider: Type.String(),
  /**
   * `hosted`: in the service's own database. `direct`: in a Postgres that the tenant's owner has registered. `endpoint`:
   * behind a service of the owner's, for the models that name it as their `source`.
   */
  connection: Type.Union([Type.Literal("hosted"), Type.Literal("direct"), Type.Literal("endpoint")]),
  /**
   * `unverified`: an endpoint has not answered yet. `moving`: the tenant's data is on its way. `broken`: it cannot be
   * reached; see `last_error`. `rejected`: an endpoint does not accept the signature.
   */
  status: Type.Union([
    Type.Literal("unverified"),
    Type.Literal("active"),
    Type.Literal("moving"),
    Type.Literal("broken"),
    Type.Literal("rejected"),
  ]),
  host: text,
  database: text,
  schema: text,
  display_name: text,
  endpoint: text,
  /** The end of the key that signs calls to an endpoint. */
  key_last4: text,
  /** Up to where the endpoint's events were read. */
  cursor: text,
  last_error: text,
  /** Seconds since the endpoint's events were last read to their end. */
  event_lag: whole,
  /** Attempts that failed since the last one that succeeded. */
  retry_count: whole,
  last_request_at: whole,
  last_success_at: whole,
});
export type Datasource = Static<typeof Datasource>;

const connectionString = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: "`postgres://user:password@host:5432/database`. TLS is verified unless `sslmode` says otherwise.",
});

const signingKey = Type.String({
  minLength: 24,
  maxLength: 128,
  description: "`whsec_` and 24 to 64 bytes in base64. Calls are signed with it, as Standard Webhooks defines.",
});

const named = {
  display_name: Type.Optional(Type.String({ maxLength: 255 })),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};

/** The keys that belong to the kind are required: `connectionString`, or `endpoint` and `signingKey`. */
export const DatasourceBody = Type.Object(
  {
    connection: Type.Union([Type.Literal("direct"), Type.Literal("endpoint")]),
    connectionString: Type.Optional(connectionString),
    /** Where the caller's own tables are. Default: `public`. */
    schema: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    endpoint: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    signingKey: Type.Optional(signingKey),
    ...named,
  },
  { additionalProperties: false },
);
export type DatasourceBody = Static<typeof DatasourceBody>;

/** Other credentials for the same database, or another key for the same endpoint. */
export const DatasourceKey = Type.Object(
  { connectionString: Type.Optional(connectionString), signingKey: Type.Optional(signingKey) },
  { additionalProperties: false },
);
export type DatasourceKey = Static<typeof DatasourceKey>;

export const DatasourceDeleted = Type.Object({
  object: Type.Literal("datasource"),
  id: Type.String(),
  deleted: Type.Literal(true),
});
