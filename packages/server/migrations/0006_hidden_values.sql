-- Values that a forced schema change hides: kept beside the row until the schema declares them again.
alter table holdfast.record add column hidden json;
create index record_hidden on holdfast.record (world, model) where hidden is not null;
