-- A text in the form in which words are searched in it. Clients do the same: see text-search.ts of the SDK's protocol,
-- which says why. Which collation has Unicode's lower case depends on the version of Postgres and on how it was built;
-- where none has, only ASCII letters are found in upper and lower case. `normalize` is slow, and ASCII needs none.
do $migration$
declare
  lowering text := coalesce(
    (select format('%I.%I', n.nspname, c.collname) from pg_collation c join pg_namespace n on n.oid = c.collnamespace
     where c.collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8') and c.collencoding in (-1, pg_char_to_encoding('UTF8'))
     order by array_position(array['pg_c_utf8', 'und-x-icu', 'C.utf8'], c.collname::text) limit 1),
    'pg_catalog."C"');
begin
  execute format($function$
    create function holdfast.folded(whole text) returns text language plpgsql immutable strict parallel safe as $$
    begin
      if octet_length(whole) = length(whole) then
        return lower(whole collate "C");
      end if;
      -- İ has two code points in lower case, which not every collation gives it.
      return replace(replace(
        normalize(lower(replace(whole, E'\u0130', E'i\u0307') collate %s), NFC), E'\u03c2', E'\u03c3'), E'i\u0307', 'i');
    end $$
  $function$, lowering);
end $migration$;

create function holdfast.searchable(data json, field text) returns text language sql immutable parallel safe
  return case when json_typeof(data -> field) = 'string' then holdfast.folded(data ->> field) end;
