-- Organisations, their two worlds, the keys that open them, and where each world's log ends.

create table holdfast.organization (
  id text primary key,
  name text not null,
  created_at timestamptz(3) not null default clock_timestamp()
);

-- An organisation in one environment. Its small number leads every key below, so that the tables can be spread by it.
create table holdfast.world (
  id integer generated always as identity primary key,
  organization text not null references holdfast.organization,
  livemode boolean not null,
  unique (organization, livemode)
);

create table holdfast.secret_key (
  id text primary key,
  world integer not null references holdfast.world,
  hash bytea not null unique,
  last4 text not null,
  label text,
  -- The key that the environment named at start; another one there revokes it.
  configured boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  revoked_at timestamptz(3)
);
create index secret_key_world on holdfast.secret_key (world);

-- One line per world, updated by every round of commits: the head of its log. `writer` made the entry at `sync_id`
-- (null when it came without a client id); `other_sync_id` is the newest entry by anybody else.
create table holdfast.head (
  world integer primary key references holdfast.world,
  log_id text not null,
  sync_id bigint not null default 0,
  writer text,
  other_sync_id bigint not null default 0,
  last_at timestamptz(3) not null default clock_timestamp(),
  schema_version integer not null default 0,
  trimmed_to bigint not null default 0
) with (fillfactor = 10);

create table holdfast.model_schema (
  world integer not null references holdfast.world,
  version integer not null,
  hash text not null,
  body json not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (world, version)
);
