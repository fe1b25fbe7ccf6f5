-- Writes that their author asks for, until they are decided. They stand beside the log.
create table holdfast.proposal (
  tenant integer not null,
  id text not null collate "C",
  -- `open` also when it has expired: its end says so.
  status text not null default 'open',
  -- `<kind>:<id>`
  author text not null collate "C",
  client_tx_id text not null,
  branch text collate "C",
  run text collate "C",
  attribution json,
  -- As JSON: the operations, with the names of the schema at present, and what they would change.
  operations json not null,
  -- The head of the log when it was proposed.
  read_at bigint not null,
  created_at timestamptz(3) not null,
  -- When it expires; when it was decided.
  ends_at timestamptz(3) not null,
  decided_by text,
  -- As JSON: a word to the author, what was taken, and the position of its last change.
  decision json,
  primary key (tenant, id)
);
create index proposal_list on holdfast.proposal (tenant, status, created_at, id);
create index proposal_author on holdfast.proposal (tenant, author, ends_at) where status = 'open';
create index proposal_run on holdfast.proposal (tenant, run, created_at, id) where run is not null;
create index proposal_branch on holdfast.proposal (tenant, branch, created_at, id) where branch is not null;
create index proposal_made on holdfast.proposal (tenant, created_at);
create index proposal_end on holdfast.proposal (ends_at);
create index proposal_ended on holdfast.proposal (tenant, ends_at);

-- The records of a proposal, with the groups that each has before it and after it.
create table holdfast.proposed_record (
  tenant integer not null,
  model text not null collate "C",
  id text not null collate "C",
  proposal text not null collate "C",
  -- Null: there was no record.
  groups_before text[],
  -- Null: there will be none.
  groups_after text[],
  primary key (tenant, model, id, proposal),
  foreign key (tenant, proposal) references holdfast.proposal (tenant, id) on delete cascade
);
create index proposed_record_of on holdfast.proposed_record (tenant, proposal);

-- The changes of a run.
create index log_run on holdfast.log (tenant, (attribution ->> 'run'), sync_id) where attribution is not null;

-- Of an erased record: the words go, and who asked for it stays.
create or replace function holdfast.without_words(said json) returns json language sql immutable as $$
  select nullif(json_strip_nulls(json_build_object(
    'run', said -> 'run', 'onBehalfOf', said -> 'onBehalfOf', 'proposal', said -> 'proposal', 'proposedBy', said -> 'proposedBy'))::text, '{}')::json
$$;
