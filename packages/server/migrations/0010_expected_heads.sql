-- Locks a world's head for a round that was judged before that: the round fails when the head is another one than it was
-- judged by.
create function holdfast.lock_expected_head(of_world integer, of_log text, last_position bigint, of_schema integer)
returns boolean language plpgsql as $$
begin
  perform 1 from holdfast.head h
  where h.world = of_world and h.log_id = of_log and h.sync_id = last_position and h.schema_version = of_schema
  for update;
  if not found then
    raise exception using errcode = 'WM001', message = format('The head of world %s has moved.', of_world);
  end if;
  return true;
end $$;
