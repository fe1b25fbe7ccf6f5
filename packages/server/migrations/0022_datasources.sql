-- Databases beside the service's own, and which tenants live in them.
create table holdfast.datasource (
  id text primary key,
  -- Who registered it. Null: the operator, for any tenant.
  tenant integer unique references holdfast.tenant,
  -- The connection string, encrypted with the master key for this datasource.
  connection bytea not null,
  host text not null,
  database text not null,
  schema text not null,
  display_name text,
  metadata json not null default '{}',
  created_at timestamptz not null default clock_timestamp()
);

-- Where the tenant's records and log are. Null: in the service's own database.
alter table holdfast.tenant add column home text references holdfast.datasource;

-- Tenants on their way: see move-tenant.ts. Source or target are null for the service's own database.
create table holdfast.move (
  id text primary key,
  tenant integer not null unique references holdfast.tenant,
  source text references holdfast.datasource,
  target text references holdfast.datasource,
  started_at timestamptz not null default clock_timestamp(),
  last_error text
);

-- In the database that a tenant moves to: all its rows are here, and this will be its head.
create table holdfast.arrival (
  tenant integer primary key,
  head json not null
);

-- A token that ended. Tokens themselves are in the service's own database, claims in that of their tenant.
create table holdfast.ended_token (
  id text primary key,
  tenant integer not null,
  ended_at timestamptz not null
);

-- Tells services apart, so that none takes the database of another.
insert into holdfast.service_secret (name, value) values ('service', decode(replace(gen_random_uuid()::text, '-', ''), 'hex'));
