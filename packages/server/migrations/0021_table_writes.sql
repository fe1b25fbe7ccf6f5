-- How a value comes into the record. json: as it is. text: a number's digits. time: as JavaScript writes a point in time.
alter table holdfast.attached_column add column form text not null default 'json' check (form in ('json', 'text', 'time'));
update holdfast.attached_column set form = 'text' where as_text;
alter table holdfast.attached_column alter column form drop default, drop column as_text;

-- The type of a column, without domains around it: a value of another form would fail a cast.
create function holdfast.base_type(of_relation oid, of_column text) returns text stable language sql as $$
  with recursive types as (
    select a.atttypid as type, a.atttypmod as modifier from pg_catalog.pg_attribute a
      where a.attrelid = of_relation and a.attname = of_column and not a.attisdropped
    union all
    select t.typbasetype, t.typtypmod from types join pg_catalog.pg_type t on t.oid = types.type where t.typtype = 'd'
  )
  select pg_catalog.format_type(type, modifier) from types join pg_catalog.pg_type t on t.oid = types.type
    where t.typtype <> 'd'
$$;

-- A table's name with its schema: an unqualified one could be the name of something else in a statement.
create function holdfast.table_name(relation oid) returns text stable language sql as $$
  select pg_catalog.format('%I.%I', n.nspname, c.relname)
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = relation
$$;

-- Locks the rows with these keys that no other transaction has locked, in the order of their keys. Returns the keys of
-- all rows that are there, and whether they are free. If the whole table is locked, none is.
create function holdfast.lock_rows(of_relation oid, key_column text, ids text[]) returns table (id text, free boolean)
language plpgsql set enable_seqscan = on set plan_cache_mode = auto as $$
declare
  name constant text := holdfast.table_name(of_relation);
  key_type constant text := holdfast.base_type(of_relation, key_column);
begin
  if name is null or key_type is null then
    return;
  end if;
  return query execute format(
    'with keys as (select $1::%3$s[] as ids), locked as materialized (
        select t.%1$I as key from %2$s t where t.%1$I = any((select ids from keys)::%3$s[])
          order by t.%1$I for no key update skip locked)
      select t.%1$I::text, l.key is not null from %2$s t left join locked l on l.key = t.%1$I
        where t.%1$I = any((select ids from keys)::%3$s[])',
    key_column, name, key_type)
    using ids;
exception when lock_not_available then
  return query select unnest(ids), false;
when syntax_error_or_access_rule_violation or data_exception then
  -- A missing right, or a table that was changed or dropped this moment: the write says so of each commit.
  return;
end $$;

-- The columns with these names (a JSON array) as a definition for json_to_record: `"a" text, "b" integer`.
create function holdfast.column_list(of_relation oid, names text) returns text stable language sql as $$
  select pg_catalog.string_agg(pg_catalog.format('%I %s', c.name,
      coalesce(pg_catalog.format_type(a.atttypid, a.atttypmod), 'text')), ', ' order by c.n)
    from pg_catalog.json_array_elements_text(names::json) with ordinality as c(name, n)
    left join pg_catalog.pg_attribute a on a.attrelid = of_relation and a.attname = c.name and not a.attisdropped
$$;

-- The statement that writes rows of a table: $1 has their values as JSON, $2 their ids. It returns the keys of the rows
-- that were written.
create function holdfast.write_statement(action text, relation oid, key_column text, names text) returns text
stable language sql as $$
  select case action
    when 'insert' then pg_catalog.format(
      'insert into %s (%s) select %s from unnest($1) with ordinality as w(image, n), json_to_record(w.image::json) as r(%s)
        order by w.n returning %I::text as key', t.name, c.names, c.of_row, t.columns, key_column)
    when 'update' then pg_catalog.format(
      'update %1$s t set %2$s from unnest($1, $2) as w(image, id), json_to_record(w.image::json) as r(%3$s)
        where t.%4$I = w.id::%5$s returning t.%4$I::text as key', t.name, c.assigned, t.columns, key_column, t.key_type)
    else pg_catalog.format('delete from %1$s t using unnest($2) as w(id) where t.%2$I = w.id::%3$s
        returning t.%2$I::text as key', t.name, key_column, t.key_type)
    end
  from (select holdfast.table_name(relation) as name, holdfast.column_list(relation, names) as columns,
      holdfast.base_type(relation, key_column) as key_type) t,
    (select pg_catalog.string_agg(pg_catalog.quote_ident(name), ', ' order by n) as names,
        pg_catalog.string_agg(pg_catalog.format('r.%I', name), ', ' order by n) as of_row,
        pg_catalog.string_agg(pg_catalog.format('%1$I = r.%1$I', name), ', ' order by n) as assigned
      from pg_catalog.json_array_elements_text(names::json) with ordinality as c(name, n)) c
$$;

-- Writes the rows of some commits, each commit whole or not at all: what fails is undone, and the others stay. Deferred
-- constraints are checked at the end of their commit. Returns a line for each commit; `up_to` is the number of the last
-- change that was captured until then.
--
-- `at_once`: all rows are different, and their tables have no triggers of the caller's. Then neighbours of one `batch`
-- are written by one statement. If that does not go as each write by itself would (a failure, a row that is not there, a
-- cascade), it is undone, and they are written one by one. Else `up_to` is null: each row's change is its commit's.
--
-- Ends early once it has taken long or has changed many rows, well before the statement's timeout and the server's
-- memory: commits without a line were not written. If a commit reaches the timeout although it is the first one, that
-- is its own result, because no later call would give it more time.
--
-- The settings of planning are for the caller's triggers: the lane has its own. The search path is the session's, for
-- the same reason.
create function holdfast.write_rows(
  of_tenant integer, at_once boolean, batches integer[], commits integer[], operations integer[], relations oid[],
  key_columns text[], actions text[], ids text[], columns text[], rows text[]
) returns table (
  commit integer, done boolean, operation integer, state text, message text, of_constraint text, of_table text,
  of_column text, up_to bigint
) language plpgsql set enable_seqscan = on set plan_cache_mode = auto as $$
#variable_conflict use_column
declare
  one record;
  n integer;
  prepared text := '';
  table_name text;
  sql text;
  kept text;
  written bigint;
  first bigint;
  since bigint;
  before bigint;
  too_many boolean;
begin
  select last_value into first from holdfast.captured_change_seq_seq;
  if at_once then
    begin
      set constraints all deferred;
      for one in
        select min(w.relation) as relation, min(w.key) as key, min(w.action) as action, min(w.names) as names,
            array_agg(w.image order by w.n) as images, array_agg(w.id order by w.n) as ids
          from unnest(batches, relations, key_columns, actions, columns, rows, ids)
            with ordinality as w(batch, relation, key, action, names, image, id, n)
          group by w.batch order by w.batch
      loop
        execute format('with done as (%s) select count(*) from done where key = any($2)',
            holdfast.write_statement(one.action, one.relation, one.key, one.names))
          into written using one.images, one.ids;
        if written <> cardinality(one.ids) then
          raise exception using errcode = 'HF005';
        end if;
      end loop;
      set constraints all immediate;
      select count(*) into written from holdfast.captured_change c
        where c.tenant = of_tenant and c.seq > first and c.tx = pg_current_xact_id();
      if written <> cardinality(ids) then
        raise exception using errcode = 'HF005';
      end if;
      return query select c, true, null::integer, null, null, null, null, null, null::bigint
        from (select distinct c from unnest(commits) c) c order by c;
      return;
    exception when others or assert_failure then
      -- One by one.
    end;
  end if;
  n := 1;
  while n <= cardinality(commits) loop
    commit := commits[n];
    done := true;
    operation := null; state := null; message := null; of_constraint := null; of_table := null; of_column := null;
    begin
      set constraints all deferred;
      select last_value into since from holdfast.captured_change_seq_seq;
      while commits[n] = write_rows.commit loop
        operation := operations[n];
        if prepared is distinct from format('%s %s %s', actions[n], relations[n], columns[n]) then
          table_name := holdfast.table_name(relations[n]);
          -- From here on its columns stay as they are.
          if table_name is not null then
            execute format('lock table %s in row exclusive mode', table_name);
          end if;
          if exists (
            select from (select key_columns[n] union all select json_array_elements_text(columns[n]::json)) c(name)
              where not exists (
                select from pg_attribute a
                  where a.attrelid = relations[n] and a.attname = c.name and not a.attisdropped))
          then
            raise exception 'The table % was changed.', coalesce(table_name, '') using errcode = 'HF003';
          end if;
          sql := holdfast.write_statement(actions[n], relations[n], key_columns[n], columns[n]);
          prepared := format('%s %s %s', actions[n], relations[n], columns[n]);
        end if;
        select last_value into before from holdfast.captured_change_seq_seq;
        execute sql into kept using array[rows[n]], array[ids[n]];
        get diagnostics written = row_count;
        -- An earlier operation may have deleted the row already, by a cascade.
        if written = 0 and actions[n] = 'delete' then
          execute format('select from %s t where t.%I = $1::%s', table_name, key_columns[n],
            holdfast.base_type(relations[n], key_columns[n])) using ids[n];
          get diagnostics written = row_count;
          if written = 0 then
            n := n + 1;
            continue;
          end if;
          written := 0;
        end if;
        -- A trigger may write something else instead: then that is what the log says.
        if written = 0 and not exists (
          select from holdfast.captured_change c
            where c.tenant = of_tenant and c.seq > before and c.tx = pg_current_xact_id())
        then
          raise exception 'The table % did not take the write: no row was changed.', table_name using errcode = 'HF001';
        end if;
        if written > 0 and kept <> ids[n] then
          raise exception 'The table % keeps this id as "%": use that form.', table_name, kept using errcode = 'HF002';
        end if;
        n := n + 1;
      end loop;
      operation := null;
      set constraints all immediate;
      -- All of it is in the server's memory at once. The bytes as in take_changes.
      select count(*) > 10000 or sum(case when pg_column_size(c.image) < 2000 then pg_column_size(c.image)
          else octet_length(c.image::text) end) > 32 * 2 ^ 20
        into too_many from holdfast.captured_change c
        where c.tenant = of_tenant and c.seq > since and c.tx = pg_current_xact_id();
      if too_many then
        raise exception 'The write changes more than 10000 rows or 32 MiB of attached tables: do it in SQL.'
          using errcode = 'HF004';
      end if;
    -- `others` includes neither of the two.
    exception when others or assert_failure or query_canceled then
      exit when sqlstate = '57014' and commit > commits[1];
      done := false;
      prepared := '';
      get stacked diagnostics state = returned_sqlstate, message = message_text, of_constraint = constraint_name,
        of_table = table_name, of_column = column_name;
      while commits[n] = write_rows.commit loop
        n := n + 1;
      end loop;
    end;
    select last_value into up_to from holdfast.captured_change_seq_seq;
    return next;
    exit when clock_timestamp() > statement_timestamp() + interval '1 second' or up_to > first + 5000;
  end loop;
end $$;

revoke all on function holdfast.lock_rows, holdfast.write_rows from public;
