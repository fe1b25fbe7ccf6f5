-- One word for one organization in one environment, live or test, everywhere: tenant.

alter table holdfast.world rename to tenant;

do $$
declare
  found record;
begin
  for found in
    select c.relname as relation, a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'v') and a.attname = 'world' and not a.attisdropped
  loop
    execute format('alter table holdfast.%I rename column world to tenant', found.relation);
  end loop;
  for found in
    select conrelid::regclass as relation, conname as name from pg_constraint
    where connamespace = 'holdfast'::regnamespace and conname like '%world%'
  loop
    execute format('alter table %s rename constraint %I to %I', found.relation, found.name, replace(found.name, 'world', 'tenant'));
  end loop;
  for found in
    select relname as name from pg_class where relnamespace = 'holdfast'::regnamespace and relkind = 'i' and relname like '%world%'
  loop
    execute format('alter index holdfast.%I rename to %I', found.name, replace(found.name, 'world', 'tenant'));
  end loop;
end $$;

-- The claims of one record and those that wait for it share a queue.
alter table holdfast.claim rename column line to queue;
alter index holdfast.claim_line rename to claim_queue;

-- Counts up with every change of the endpoint's row, so that two writers notice each other.
alter table holdfast.webhook_endpoint rename column turn to version;

-- The bodies of functions are text, which does not follow a renamed column.
drop function holdfast.find_creations(integer);
create function holdfast.find_creations(of_tenant integer) returns void language sql as $$
  update holdfast.log l set created_sync_id = h.made
  from (
    select sync_id, verb, max(sync_id) filter (where verb = 'created') over (partition by model, id order by sync_id) as made
    from holdfast.log where tenant = of_tenant) h
  where l.tenant = of_tenant and l.sync_id = h.sync_id and h.verb = 'deleted' and l.created_sync_id is null
$$;

drop function holdfast.expect_unseen(bigint[], text[], text[], bigint[]);
create function holdfast.expect_unseen(tenants bigint[], models text[], ids text[], positions bigint[])
returns boolean language plpgsql as $$
begin
  return cardinality(tenants) = 0 or holdfast.expect(not exists (
    select from unnest(tenants, models, ids, positions) as k(tenant, model, id, after)
    cross join lateral (
      select from holdfast.log l
      where l.tenant = k.tenant and l.model = k.model and l.id = k.id and l.verb <> 'created' and l.sync_id > k.after limit 1) l
  ), 'A record was there after it was read.');
end $$;
