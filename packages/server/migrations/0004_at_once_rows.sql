-- `write_at_once` returns the rows that it writes, so they are not captured. If a trigger, a rule or a foreign key changes
-- other rows of attached tables too, HF005 undoes the statement, and `write_rows` writes the rows one by one, captured. Rules
-- and foreign keys act at the depth of our own statement, and one may be newer than what the server knows of the tables. So
-- rows are counted: `write_at_once` says before each statement how many it writes, and the triggers together may see no more.
-- If a foreign key references its own table, the statement's own trigger sees the rows of the cascade among its own.
--
-- A `write_at_once` of before, which runs while this is applied, has said no number: its rows are written one by one.
create or replace function holdfast.capture_change() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, MDY' set intervalstyle = 'iso_8601'
  set extra_float_digits = 1 set bytea_output = 'hex' set lc_monetary = 'C'
as $$
declare
  of_tenant constant integer := tg_argv[0];
  of_model constant text := tg_argv[1];
  key_column constant text := tg_argv[2];
  is_partitioned constant boolean := tg_argv[3];
  -- The whole table: a row may be in another partition by now.
  whole constant regclass := coalesce(pg_partition_root(tg_relid), tg_relid);
  -- 1: the first column. A renamed key (null) does not fail the caller's statement: the collector reports it.
  key_place constant bigint := (
    select (select count(*) from pg_attribute b
        where b.attrelid = tg_relid and b.attnum between 1 and a.attnum and not b.attisdropped)
      from pg_attribute a where a.attrelid = tg_relid and a.attname = key_column and not a.attisdropped);
  has_key constant boolean := key_place is not null;
  key constant text := case when has_key then format('r.%I', key_column) else 'null' end;
  written bigint;
  left_to_write bigint;
  size text;
  is_nested boolean;
  is_large boolean := false;
  image text;
begin
  if current_setting('holdfast.at_once', true) = pg_current_xact_id()::text then
    if tg_op = 'INSERT' then
      select count(*) into written from new_rows;
    elsif tg_op <> 'TRUNCATE' then
      select count(*) into written from old_rows;
    end if;
    left_to_write := nullif(current_setting('holdfast.left_to_write', true), '')::bigint - written;
    if pg_trigger_depth() > 1 or (left_to_write >= 0) is not true then
      raise exception using errcode = 'HF005';
    end if;
    perform set_config('holdfast.left_to_write', left_to_write::text, true);
    return null;
  end if;
  -- A partition that was detached keeps its triggers.
  if is_partitioned and not exists (
    select from holdfast.attached_table where tenant = of_tenant and model = of_model and relation = whole)
  then
    return null;
  end if;
  if tg_op = 'TRUNCATE' then
    if not holdfast.reads_rows(tg_relid) then
      return null;
    end if;
    -- Before the rows are gone. `offset 0`: an image would be made again for each use of it. Those of a partitioned table are in its partitions, which are truncated too.
    execute format('insert into holdfast.captured_change (tenant, model, key, before, bytes)
        select $1, $2, c.key, c.image, octet_length(c.image::text)
        from (select %s::text as key, %s as image from %s%s r offset 0) c',
        key, holdfast.image_sql(tg_relid, of_tenant, of_model, key_column, has_key),
        case when is_partitioned then 'only ' else '' end, tg_relid::regclass)
      using of_tenant, of_model;
    return null;
  end if;
  if pg_trigger_depth() > 1 or is_partitioned and tg_op = 'UPDATE' then
    perform set_config('holdfast.nested_in', pg_current_xact_id()::text, true);
  end if;
  is_nested := current_setting('holdfast.nested_in', true) = pg_current_xact_id()::text;
  if tg_op = 'INSERT' then
    perform set_config('holdfast.inserted_at', statement_timestamp()::text, true);
  elsif tg_op = 'DELETE' and current_setting('holdfast.inserted_at', true) = statement_timestamp()::text then
    is_nested := true;
  end if;
  -- Under a key that is checked at the end of the transaction, two rows have one key meanwhile.
  is_nested := is_nested or exists (select from pg_index where indrelid = tg_relid and indisprimary and not indimmediate);
  is_nested := is_nested and has_key and holdfast.reads_rows(whole);
  -- Most tables: the key is the first column, and no row has much JSON. Statements that need no name of a column
  -- are planned once for a session, which takes a quarter of the time. One with a join must not be: it would be planned for
  -- few rows, and take the square of their number where they are many.
  if not is_nested and key_place = 1 and not is_partitioned
    and (select coalesce(pg_relation_size(reltoastrelid), 0) < 8192 from pg_class where oid = tg_relid)
    and not exists (select from pg_attribute a left join pg_cast k
      on k.castsource = a.atttypid and k.casttarget = 'json'::regtype and k.castmethod = 'f'
      where a.attrelid = tg_relid and a.attnum > 0 and not a.attisdropped and (a.attgenerated = 'v' or k.castsource is not null
        or a.attlen < 0 and a.atttypid not in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'numeric'::regtype)))
  then
    if tg_op = 'INSERT' then
      insert into holdfast.captured_change (tenant, model, key, after, bytes)
        select of_tenant, of_model, c.key, c.image, octet_length(c.image::text)
        from (select k.key::text as key, row_to_json(r.*) as image
          from new_rows r cross join lateral (select r.*) as k(key) offset 0) c;
      return null;
    elsif tg_op = 'DELETE' then
      insert into holdfast.captured_change (tenant, model, key, before, bytes)
        select of_tenant, of_model, c.key, c.image, octet_length(c.image::text)
        from (select k.key::text as key, row_to_json(r.*) as image
          from old_rows r cross join lateral (select r.*) as k(key) offset 0) c;
      return null;
    elsif (select count(*) from (select from new_rows limit 16) r) < 16 then
      insert into holdfast.captured_change (tenant, model, key, before, after, bytes)
        select of_tenant, of_model, n.key, o.image, n.image, octet_length(o.image::text) + octet_length(n.image::text)
        from (select row_to_json(r.*) as image, row_number() over () as n from old_rows r) o
        join (select k.key::text as key, row_to_json(r.*) as image, row_number() over () as n
          from new_rows r cross join lateral (select r.*) as k(key)) n using (n) order by n;
      return null;
    end if;
  end if;
  size := holdfast.size_sql(tg_relid);
  if has_key and size is not null then
    execute format('select %s', (
      select string_agg(format('exists (select from %s r where %s >= 16777216)', transition, size), ' or ')
        from (values ('old_rows', 'INSERT'), ('new_rows', 'DELETE')) as t(transition, without) where without <> tg_op))
      into is_large;
  end if;
  image := holdfast.image_sql(tg_relid, of_tenant, of_model, key_column, is_large);
  if is_nested then
    execute format('insert into holdfast.captured_change (tenant, model, key, before, after, nested, present, bytes)
        select $1, $2, c.key::text, c.before, c.after, true, c.present,
          octet_length(coalesce(c.before, c.after)::text) + coalesce(octet_length(c.present::text), 0)
        from (select c.*, (select %4$s from %1$s r where r.%2$I = c.key limit 1) as present from (%3$s) c offset 0) c',
      whole, key_column,
      (select string_agg(format('select %s, r.%I as key from %s r', row_images, key_column, transition), ' union all ')
        from (values (image || ' as before, null::json as after', 'old_rows', 'INSERT'),
          ('null::json as before, ' || image || ' as after', 'new_rows', 'DELETE')) as c(row_images, transition, without)
        where without <> tg_op),
      holdfast.image_sql(whole, of_tenant, of_model, key_column, size is not null))
      using of_tenant, of_model;
  elsif tg_op = 'UPDATE' then
    -- Both transition tables have the rows in the order in which the statement updated them.
    execute format('insert into holdfast.captured_change (tenant, model, key, before, after, bytes)
        select $1, $2, n.key, o.image, n.image, octet_length(o.image::text) + octet_length(n.image::text)
        from (select %1$s as image, row_number() over () as n from old_rows r) o
        join (select %2$s::text as key, %1$s as image, row_number() over () as n from new_rows r) n using (n) order by n',
      image, key)
      using of_tenant, of_model;
  else
    execute format('insert into holdfast.captured_change (tenant, model, key, %1$s, bytes)
        select $1, $2, c.key, c.image, octet_length(c.image::text)
        from (select %2$s::text as key, %3$s as image from %4$s r offset 0) c',
      case tg_op when 'INSERT' then 'after' else 'before' end, key, image,
      case tg_op when 'INSERT' then 'new_rows' else 'old_rows' end)
      using of_tenant, of_model;
  end if;
  return null;
end $$;

-- Writes rows by one statement for each batch, which the server makes, and returns what the tables made of
-- them. Fails if a row was not written, or one besides.
create or replace function holdfast.write_at_once(statements text[], batches integer[], ids text[], rows text[])
returns table (key text, image text, batch integer) language plpgsql
  set datestyle = 'ISO, MDY' set intervalstyle = 'iso_8601' set extra_float_digits = 1 set bytea_output = 'hex'
  set lc_monetary = 'C' set enable_seqscan = on set plan_cache_mode = auto as $$
#variable_conflict use_column
declare
  one record;
  written bigint;
begin
  for one in
    select w.batch, array_agg(w.image order by w.n) as images, array_agg(w.id order by w.n) as ids
      from unnest(batches, rows, ids) with ordinality as w(batch, image, id, n) group by w.batch order by w.batch
  loop
    perform set_config('holdfast.left_to_write', cardinality(one.ids)::text, true);
    return query execute statements[one.batch] using one.images, one.ids, one.batch;
    get diagnostics written = row_count;
    if written <> cardinality(one.ids) then
      raise exception using errcode = 'HF005';
    end if;
  end loop;
end $$;
