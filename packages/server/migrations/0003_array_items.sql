-- The items of a list, each as a number that equal ones of a tenant have in common. Others may have it too: who finds a
-- record by it looks at its items again. An item may be of any size, but not an index entry; and a number of its own for
-- each tenant needs no extension, as an index of the tenant beside the items would. The hash is what Postgres partitions
-- tables by, so no version of it changes it. It costs more to compute than to look for one item, so that it is not
-- computed of each record where there is no index.
create function holdfast.items_of(data json, field text, tenant integer) returns bigint[] language sql immutable parallel safe
  cost 800
  return (select array_agg(jsonb_hash_extended(item, tenant))
    from jsonb_array_elements(case when json_typeof(data -> field) = 'array' then (data -> field)::jsonb end) item);
