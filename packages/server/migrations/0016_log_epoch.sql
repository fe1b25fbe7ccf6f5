-- In which database the logs were written last. Positions say nothing without it: a restored database, or a standby that was
-- promoted, gives positions again that another database has given before, to other changes.

create table holdfast.log_epoch (
  singleton boolean primary key default true check (singleton),
  -- Another one whenever the logs get new ids.
  epoch text not null default gen_random_uuid()::text,
  -- Postgres' system identifier and timeline; null: not written down yet.
  origin text
);
insert into holdfast.log_epoch default values;

-- A number for fences that is greater than all that were given before, also by a database of which nothing is left: the
-- microseconds since 1970. Claims are not granted that fast, so numbers that count up from there stay below the next such time.
create function holdfast.fence_floor(claim_change bigint) returns bigint language sql volatile as $$
  select greatest(claim_change + 1000000000, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
$$;
