-- Claims: who holds a record, or one of its fields, and who waits in the line for it. A row stays when its claim ended.
-- Every change is made under the head's lock and takes the next number of the world's `claim_change`, so that whoever
-- tells of claims can read on from where it was. A grant's number is its fence.

-- `claims` counts those that have not ended: where there is none, no write asks about any.

alter table holdfast.head add column claim_change bigint not null default 0, add column claims integer not null default 0;

create table holdfast.claim (
  world integer not null,
  id text not null collate "C",
  model text not null collate "C",
  record text not null collate "C",
  -- Null: the whole record.
  field text,
  status text not null,
  -- `<kind>:<id>`
  participant text not null collate "C",
  token text not null,
  client_id text,
  -- The groups that the token reaches, asked again when it is granted; null: every record.
  groups text[],
  action text not null,
  description text,
  meta json,
  ttl_ms integer not null,
  -- The order of the line.
  place bigint not null,
  fence bigint,
  change bigint not null,
  created_at timestamptz(3) not null,
  granted_at timestamptz(3),
  -- Only of one that is held.
  expires_at timestamptz(3),
  ended_at timestamptz(3),
  -- The last sign of life of one that waits.
  seen_at timestamptz(3) not null,
  -- When its token was revoked: the claim ends then.
  revoked_at timestamptz(3),
  -- Where it stands, and who waits with it; null once that is over.
  line text collate "C" generated always as (case when ended_at is null then world::text || '/' || model || '/' || record end) stored,
  waiter text collate "C" generated always as (
    case when status = 'queued' then world::text || '/' || participant || coalesce(' ' || client_id, '') end) stored,
  -- Whom it excludes others for: a participant, or one device of it.
  holder text collate "C" not null generated always as (participant || coalesce(' ' || client_id, '')) stored,
  primary key (world, id)
) with (fillfactor = 70);
-- What a round asks for is one key with one index. No other index can answer it: a plan made while the table is empty
-- could take that one, and read every claim for each key.
create index claim_line on holdfast.claim (line);
create index claim_waiter on holdfast.claim (waiter);
create index claim_token on holdfast.claim (token) where ended_at is null;
create index claim_expiry on holdfast.claim (expires_at) where status = 'active';
create index claim_silence on holdfast.claim (seen_at) where status = 'queued';
create index claim_change on holdfast.claim (world, change);
create index claim_revoked on holdfast.claim (revoked_at) where ended_at is null and revoked_at is not null;
create index claim_ended on holdfast.claim (ended_at) where ended_at is not null;
