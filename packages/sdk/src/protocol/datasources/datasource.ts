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
  /** `hosted`: with the log, in the same transaction. */
  connection: Type.Union([Type.Literal("hosted"), Type.Literal("direct"), Type.Literal("endpoint")]),
  status: Type.Union([Type.Literal("unverified"), Type.Literal("active"), Type.Literal("rejected")]),
  host: text,
  database: text,
  schema: text,
  display_name: text,
  endpoint: text,
  key_last4: text,
  cursor: text,
  last_error: text,
  event_lag: whole,
  retry_count: whole,
  last_request_at: whole,
  last_success_at: whole,
});
export type Datasource = Static<typeof Datasource>;
