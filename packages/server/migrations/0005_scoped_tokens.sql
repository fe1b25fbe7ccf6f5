-- Tokens that a secret key minted: capabilities of agents (rk_) and ephemeral keys of people (ek_).
create table holdfast.scoped_token (
  id text primary key,
  world integer not null references holdfast.world,
  kind text not null check (kind in ('capability', 'ephemeral_key')),
  hash bytea not null unique,
  last4 text not null,
  participant_kind text not null,
  participant_id text not null,
  operations text[] not null,
  sync_groups text[] not null,
  label text,
  user_meta json,
  rotated_from text,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
create index scoped_token_page on holdfast.scoped_token (world, kind, created_at, id);
create index scoped_token_participant on holdfast.scoped_token (world, kind, participant_id);
create index scoped_token_end on holdfast.scoped_token (expires_at);
