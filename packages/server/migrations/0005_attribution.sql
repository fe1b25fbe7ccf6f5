-- Why a commit or a claim was made, in which run, and for whom: JSON as it was given, null if nothing was. Adding the
-- columns rewrites no row.
alter table holdfast.log add column attribution json;
alter table holdfast.claim add column attribution json;
-- For whom a token may write: participants, or `*`.
alter table holdfast.scoped_token add column on_behalf_of text[] not null default '{}';

-- What is left of it when the record is erased: not what was said in words.
create function holdfast.without_words(said json) returns json language sql immutable as $$
  select nullif(json_strip_nulls(json_build_object('run', said -> 'run', 'onBehalfOf', said -> 'onBehalfOf'))::text, '{}')::json
$$;

-- What a token may do at most, as JSON: `commits`, `records`, and whether each run has that much, or all of them together.
alter table holdfast.scoped_token add column budget json;

-- What tokens with a budget have done, in each run or, under the empty name, in all.
create table holdfast.spent_budget (
  tenant integer not null,
  token text not null,
  run text not null,
  commits bigint not null,
  records bigint not null,
  updated_at timestamptz not null,
  primary key (tenant, token, run)
);
