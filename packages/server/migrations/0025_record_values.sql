-- Values by which commits find records: those of unique fields, and the ids in references that are checked. Only a hash is
-- kept, so that a long text takes no more room than a short one. Rounds write it under the head's lock.
create table holdfast.record_value (
  tenant integer not null,
  model text not null collate "C",
  id text not null collate "C",
  -- Which declaration of the model it is of: `unique projectId,slug`, `reference labelId`.
  name text not null collate "C",
  hash bytea not null,
  primary key (tenant, model, id, name, hash)
);

create index record_value_hash on holdfast.record_value (tenant, model, name, hash);
