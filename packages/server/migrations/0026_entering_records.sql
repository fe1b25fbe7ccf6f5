-- A change may bring a record to a reader who had not seen it: since when it is archived (of an update), and who created
-- it, and when.
alter table holdfast.log
  add column archived_at timestamptz(3),
  add column record_created_at timestamptz(3),
  add column record_created_by text;
