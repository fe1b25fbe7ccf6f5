-- Webhooks: who is told of the log, how far they are, and what came of each attempt.

create table holdfast.webhook_endpoint (
  world integer not null references holdfast.world,
  id text not null collate "C",
  url text not null,
  -- Names of models as declared, or `*` alone.
  enabled_events text[] not null,
  description text,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Null: it is enabled.
  disabled_reason text,
  -- Raised by what makes the same positions tell something else.
  revision integer not null default 1,
  -- Everything up to there was delivered, skipped, or not subscribed to.
  cursor bigint not null,
  -- Begun at this cursor.
  attempt integer not null default 0,
  -- Where the batch ends that is being tried: it may shrink, and never grows.
  batch_to bigint,
  batch_size integer not null,
  next_attempt_at timestamptz(3),
  -- Whose request is in flight, since when, and until when nobody else sends one.
  lease text,
  leased_at timestamptz(3),
  leased_until timestamptz(3),
  last_error json,
  last_success_at timestamptz(3),
  -- Sealed with the master key, bound to the organisation and to this row.
  secret bytea not null,
  secret_last4 text not null,
  old_secret bytea,
  old_secret_until timestamptz(3),
  -- Attempts ever, for their numbers.
  attempts bigint not null default 0,
  -- Every change raises it: who saves says which one was read.
  turn bigint not null default 0,
  primary key (world, id)
) with (fillfactor = 50);
create index webhook_endpoint_enabled on holdfast.webhook_endpoint (world) where disabled_reason is null;

-- The newest thousand of each endpoint: the slot of an attempt is its number modulo that.
create table holdfast.webhook_attempt (
  world integer not null,
  endpoint text not null collate "C",
  slot integer not null,
  nth bigint not null,
  id text not null,
  kind text not null,
  webhook_id text,
  from_sync_id bigint,
  to_sync_id bigint,
  events integer not null,
  attempt integer not null,
  outcome text not null,
  status integer,
  error_code text,
  error_message text,
  response text,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  primary key (world, endpoint, slot)
);
create index webhook_attempt_age on holdfast.webhook_attempt using brin (started_at);
