-- For a round that was judged as if its records had never been there: fails when the log says something of one of them
-- after the position that its writer had read.
create function holdfast.expect_unseen(worlds integer[], models text[], ids text[], positions bigint[])
returns boolean language plpgsql as $$
begin
  if cardinality(worlds) = 0 then
    return true;
  end if;
  if exists (
    select from unnest(worlds, models, ids, positions) as k(world, model, id, after)
    cross join lateral (
      select from holdfast.log l
      where l.world = k.world and l.model = k.model and l.id = k.id and l.sync_id > k.after limit 1) l
  ) then
    raise exception using errcode = 'WM001', message = 'A record was there after it was read.';
  end if;
  return true;
end $$;
