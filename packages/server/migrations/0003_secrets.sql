-- What every process of this service shares and no caller sees.
create table holdfast.service_secret (
  name text primary key,
  value bytea not null
);
insert into holdfast.service_secret (name, value)
values ('page_cursor', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));
