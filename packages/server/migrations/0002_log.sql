-- The log, the rows that it adds up to, and the receipts that make a retry harmless.
-- Bodies are json, never jsonb: jsonb reorders keys and rewrites numbers.

create table holdfast.log (
  world integer not null,
  sync_id bigint not null,
  model text not null,
  id text not null,
  verb text not null,
  data json,
  changed_fields json,
  groups text[] not null,
  -- Null when the record was in the same groups before.
  groups_before text[],
  client_tx_id text not null,
  client_id text,
  transaction_id text,
  actor text not null,
  participant_kind text not null,
  claim text,
  created_at timestamptz(3) not null,
  primary key (world, sync_id)
);
create index log_record on holdfast.log (world, model, id, sync_id);

create table holdfast.record (
  world integer not null,
  model text not null collate "C",
  id text not null collate "C",
  sync_id bigint not null,
  data json not null,
  groups text[] not null,
  archived_at timestamptz(3),
  created_sync_id bigint not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  primary key (world, model, id)
);

-- The newest entry of each group, and the newest by anybody else than its writer: see head.
create table holdfast.group_head (
  world integer not null,
  name text not null,
  sync_id bigint not null,
  writer text,
  other_sync_id bigint not null,
  primary key (world, name)
) with (fillfactor = 50);

-- `name` is a commit's key or clientTxId; an operation's own key is "operation <key>" and has no body.
create table holdfast.receipt (
  world integer not null,
  participant text not null,
  name text not null,
  fingerprint text not null,
  body json,
  held boolean not null,
  created_at timestamptz(3) not null,
  primary key (world, participant, name)
);
create index receipt_age on holdfast.receipt using brin (created_at);
