-- Where the newest erasure of a tenant stands in its log: pages of the log that were read before it are read again.
alter table holdfast.head add column erased_to bigint not null default 0;

-- Only receipts of held commits hold values of records: what stood there when they were held. Their index is built beside
-- the service: see large-table-indexes.ts.

-- A held commit's receipt without the values of these records (`<model in lower case>/<id>`); all else stays as it was sent.
create function holdfast.without_values(body json, records text[]) returns json language sql immutable as $$
  select json_object_agg(part.key, case when part.key <> 'notifications' then part.value else (
      select json_agg(case when lower(notice.value ->> 'model') || '/' || (notice.value ->> 'id') <> all(records) then notice.value else (
          select json_object_agg(item.key, case when item.key = 'currentValues' then '{}' else item.value end order by item.nth)
          from json_each(notice.value) with ordinality as item(key, value, nth)) end order by notice.nth)
      from json_array_elements(part.value) with ordinality as notice(value, nth)) end order by part.nth)
  from json_each(body) with ordinality as part(key, value, nth)
$$;
