-- Endpoint datasources: services of the caller's that have the records of some models. See flows/sources.
create table holdfast.source (
  tenant integer not null references holdfast.tenant,
  id text not null,
  endpoint text not null,
  -- Signs the calls, encrypted. The one before signs too for a while.
  key bytea not null,
  old_key bytea,
  old_key_until timestamptz,
  key_last4 text not null,
  display_name text,
  metadata json not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  -- Up to where its events were read. Null: from the oldest.
  cursor text,
  -- Models whose records were all read, and the model and cursor where the reading goes on.
  listed text[] not null default '{}',
  listing json,
  -- Records to ask for again: a commit was on its way to them.
  again json not null default '[]',
  poll_at timestamptz not null default clock_timestamp(),
  requested_at timestamptz,
  succeeded_at timestamptz,
  -- When its events were last read to their end.
  caught_up_at timestamptz,
  failures integer not null default 0,
  last_error text,
  -- It does not accept the signature.
  rejected boolean not null default false,
  primary key (tenant, id)
);

-- Commits that wait for the answer of a source.
create table holdfast.intent (
  tenant integer not null references holdfast.tenant,
  id text not null,
  source text not null,
  -- The commit as it was judged.
  body json not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When to ask again if there is no answer until then.
  ask_at timestamptz not null,
  asks integer not null default 1,
  primary key (tenant, id)
);
create index intent_due on holdfast.intent (ask_at);

-- What they write. Nothing else writes it meanwhile.
create table holdfast.reservation (
  tenant integer not null references holdfast.tenant,
  key text not null,
  intent text not null,
  primary key (tenant, key)
);
create index reservation_of_intent on holdfast.reservation (tenant, intent);

-- Whether new organizations may be placed there. A database that is being drained takes none.
alter table holdfast.datasource add column takes_new boolean not null default true;
