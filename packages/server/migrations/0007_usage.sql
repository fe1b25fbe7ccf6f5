-- What each world did, by UTC day.
create table holdfast.usage (
  world integer not null,
  day date not null,
  event_name text not null,
  count bigint not null,
  primary key (world, day, event_name)
);
