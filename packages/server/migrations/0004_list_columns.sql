-- How a field is read out of a record to compare and to sort by: the same in a list's query and in an index.
-- A value of another type than asked for counts as none. None of these may fail, whatever the field holds: an index over
-- it would then refuse the write. One that was shipped is never changed, since indexes were built with it: add another.

-- Text by its first 500 characters: an index entry holds no more than 2 700 bytes.
create function holdfast.text_of(data json, field text) returns text language sql immutable parallel safe
  return case when json_typeof(data -> field) = 'string' then left(data ->> field, 500) end;

create function holdfast.number_of(data json, field text) returns float8 language sql immutable parallel safe
  return case when json_typeof(data -> field) = 'number' then (data ->> field)::float8 end;

create function holdfast.boolean_of(data json, field text) returns boolean language sql immutable parallel safe
  return case when json_typeof(data -> field) = 'boolean' then (data ->> field)::boolean end;

-- A date-time of RFC 3339, of the years 1 to 9999, as its instant, to the microsecond; null for any other text. With a
-- year first and an offset the cast depends on no setting, but it fails on days that do not exist and takes no offset of
-- 16 hours or more: what it surely takes is told by one fast match, and the rest is looked at part by part.
create function holdfast.instant(spelled text) returns timestamptz language plpgsql immutable strict parallel safe as $$
declare
  part text[];
  days int;
begin
  if spelled collate "C" ~ '^[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$'
    and not starts_with(spelled, '0000') then
    return spelled::timestamptz;
  end if;
  part := regexp_match(spelled collate "C",
    '^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?)(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))$');
  if part is null or part[1] = '0000' then
    return null;
  end if;
  days := date_part('day', make_date(part[1]::int, part[2]::int, 1) + interval '1 month' - interval '1 day');
  if part[3]::int > days then
    return null;
  end if;
  return (part[1] || '-' || part[2] || '-' || part[3] || part[4] || 'Z')::timestamptz
    - make_interval(hours => coalesce(part[6]::int, 0), mins => coalesce(part[7]::int, 0)) * case part[5] when '-' then -1 else 1 end;
end $$;

create function holdfast.instant_of(data json, field text) returns timestamptz language sql immutable parallel safe
  return case when json_typeof(data -> field) = 'string' then holdfast.instant(data ->> field) end;
