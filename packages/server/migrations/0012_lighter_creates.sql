-- What the making of a record costs is mostly what its indexes cost.

-- A record's entries are found by an index that leaves out those that made one: where a record is, it says where it was
-- made, and where one ends, that entry says so. Null: the entry ends none, or what made it was no longer kept.
alter table holdfast.log add column created_sync_id bigint;

-- For entries that were written before the column was there, or come out of such a dump.
create function holdfast.find_creations(of_world integer) returns void language sql as $$
  update holdfast.log l set created_sync_id = h.made
  from (
    select sync_id, verb, max(sync_id) filter (where verb = 'created') over (partition by model, id order by sync_id) as made
    from holdfast.log where world = of_world) h
  where l.world = of_world and l.sync_id = h.sync_id and h.verb = 'deleted' and l.created_sync_id is null
$$;
select holdfast.find_creations(id) from holdfast.world;

drop index holdfast.log_record;
create index log_record on holdfast.log (world, id, model, sync_id) where verb <> 'created';
create index log_life on holdfast.log (world, id, model, created_sync_id) where created_sync_id is not null;

-- The name tells one receipt from the others, so it is compared first.
alter table holdfast.receipt drop constraint receipt_pkey, add primary key (world, name, participant);

-- The same values as before, but of data that is read once.
create or replace function holdfast.number_of(data json, field text) returns float8 language sql immutable parallel safe
  return substring((data -> field)::text collate "C" from '^[-0-9].*')::float8;
create or replace function holdfast.boolean_of(data json, field text) returns boolean language sql immutable parallel safe
  return substring((data -> field)::text collate "C" from '^(?:true|false)$')::boolean;

-- What a round of creates takes for granted: it fails as a whole where that is not so.
create function holdfast.expect(met boolean, otherwise text) returns boolean language plpgsql as $$
begin
  if met is not true then
    raise exception using errcode = 'WM001', message = otherwise;
  end if;
  return true;
end $$;

-- A head is locked by being moved now, if it is where it was expected.
drop function holdfast.lock_expected_head;

-- A record that is there its insert runs into, so only what happened to it after it was made is asked for.
drop function holdfast.expect_unseen(integer[], text[], text[], bigint[]);
create function holdfast.expect_unseen(worlds bigint[], models text[], ids text[], positions bigint[])
returns boolean language plpgsql as $$
begin
  return cardinality(worlds) = 0 or holdfast.expect(not exists (
    select from unnest(worlds, models, ids, positions) as k(world, model, id, after)
    cross join lateral (
      select from holdfast.log l
      where l.world = k.world and l.model = k.model and l.id = k.id and l.verb <> 'created' and l.sync_id > k.after limit 1) l
  ), 'A record was there after it was read.');
end $$;
