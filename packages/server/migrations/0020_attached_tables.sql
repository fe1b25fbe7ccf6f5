-- Tables of the caller's own in this database whose rows are a tenant's records. Triggers on such a table write each
-- change of a row to captured_change, in the transaction that makes it; the server turns them into log entries.
create table holdfast.attached_table (
  tenant integer not null references holdfast.tenant on delete cascade,
  -- In lower case, as in holdfast.record.
  model text not null collate "C",
  relation regclass not null unique,
  -- As it was named when it was attached: `"public"."slides"`.
  name text not null,
  key_column text not null,
  -- The key up to which the rows that were there before have been read; null: none yet.
  read_to text,
  -- reading: rows from before are still being read.
  status text not null check (status in ('reading', 'attached')),
  -- Why its changes cannot be recorded. They wait.
  problem text,
  attached_at timestamptz not null default clock_timestamp(),
  primary key (tenant, model)
);

-- Which column has the value of which field.
create table holdfast.attached_column (
  tenant integer not null,
  model text not null collate "C",
  position integer not null,
  field text not null,
  name text not null,
  -- A number's digits are taken as text, so that numeric keeps them all.
  as_text boolean not null,
  primary key (tenant, model, position),
  foreign key (tenant, model) references holdfast.attached_table on delete cascade
);

create table holdfast.captured_change (
  tenant integer not null,
  -- In the order in which the statements of a transaction ran. Transactions commit in another order: no reader may
  -- remember how far it has read.
  seq bigint generated always as identity,
  tx xid8 not null default pg_current_xact_id(),
  model text not null collate "C",
  -- w: a row was written. d: deleted. t: the table was truncated.
  kind "char" not null,
  -- The row as the statement left it; of a deletion, the row before it. json and not jsonb: jsonb cannot store what json
  -- can, so the caller's own statement would fail.
  image json,
  primary key (tenant, seq)
);

-- Runs once per statement, in the caller's transaction and with the owner's rights: the caller needs none on this schema.
-- The settings make the text of a row the same whatever the caller's session has set. Nothing looks into the json: a NUL
-- in it would fail the caller's statement.
create function holdfast.capture_change() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set intervalstyle = 'iso_8601' set extra_float_digits = 1
as $$
declare
  of_tenant constant integer := tg_argv[0];
  of_model constant text := tg_argv[1];
  key_column text := tg_argv[2];
  is_partitioned constant boolean := tg_argv[3];
  is_nested boolean;
  has_key boolean := false;
  -- The whole table: a row may be in another partition by now.
  whole constant regclass := coalesce(pg_partition_root(tg_relid), tg_relid);
begin
  if tg_op = 'TRUNCATE' then
    insert into holdfast.captured_change (tenant, model, kind) values (of_tenant, of_model, 't');
    return null;
  end if;
  if pg_trigger_depth() > 1 then
    perform set_config('holdfast.nested_in', pg_current_xact_id()::text, true);
  end if;
  -- A trigger of the caller's that writes the same row is captured before the statement that fired it, which then has the
  -- older word. So in a transaction with such triggers the table itself says what became of a row.
  is_nested := coalesce(current_setting('holdfast.nested_in', true) = pg_current_xact_id()::text, false);
  if is_partitioned or is_nested then
    -- A renamed key does not fail the caller's statement: the collector reports it.
    select exists (select from pg_attribute where attrelid = tg_relid and attname = key_column and not attisdropped) into has_key;
  end if;
  if tg_op = 'DELETE' then
    if is_nested and has_key then
      execute format(
        'insert into holdfast.captured_change (tenant, model, kind, image)
          select $1, $2, ''d'', row_to_json(o.*) from old_rows o
          where not exists (select from %s t where t.%I = o.%2$I)', whole, key_column)
        using of_tenant, of_model;
    else
      insert into holdfast.captured_change (tenant, model, kind, image)
        select of_tenant, of_model, 'd', row_to_json(o.*) from old_rows o;
    end if;
    return null;
  end if;
  -- Postgres fires no update trigger for a row that moves to another partition, so key changes are looked for here.
  if is_partitioned and has_key and tg_op = 'UPDATE' then
    execute format(
      'insert into holdfast.captured_change (tenant, model, kind, image)
        select $1, $2, ''d'', row_to_json(o.*) from old_rows o
        where not exists (select from new_rows n where n.%1$I = o.%1$I)
          and not ($3 and exists (select from %2$s t where t.%1$I = o.%1$I))', key_column, whole)
      using of_tenant, of_model, is_nested;
  end if;
  if is_nested and has_key then
    execute format(
      'insert into holdfast.captured_change (tenant, model, kind, image)
        select $1, $2, ''w'', row_to_json(t.*) from %s t where t.%I in (select n.%2$I from new_rows n)',
      whole, key_column)
      using of_tenant, of_model;
  else
    insert into holdfast.captured_change (tenant, model, kind, image)
      select of_tenant, of_model, 'w', row_to_json(n.*) from new_rows n;
  end if;
  return null;
end $$;

-- For a row whose key was changed: the record of the old key is gone, unless a trigger has written such a row since.
create function holdfast.capture_old_key() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set intervalstyle = 'iso_8601' set extra_float_digits = 1
as $$
declare
  is_there boolean := false;
begin
  if current_setting('holdfast.nested_in', true) = pg_current_xact_id()::text then
    execute format('select exists (select from %s t where t.%I = ($1).%2$I)', tg_relid::regclass, tg_argv[2])
      into is_there using old;
  end if;
  if not is_there then
    insert into holdfast.captured_change (tenant, model, kind, image)
      values (tg_argv[0]::integer, tg_argv[1], 'd', row_to_json(old.*));
  end if;
  return null;
end $$;

-- Whoever may call them in a trigger of their own could write into any tenant.
revoke all on function holdfast.capture_change(), holdfast.capture_old_key() from public;
