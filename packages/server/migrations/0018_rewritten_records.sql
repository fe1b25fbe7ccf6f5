-- Records in the words of a schema that is being pushed. A push prepares them here in steps, beside the writers; from the
-- moment when it lands they count instead of the record's row, and then move there in steps. A row counts only for the
-- entry that it was prepared from: a record that was written since has another position.
create table holdfast.rewritten_record (
  world integer not null,
  model text not null collate "C",
  id text not null collate "C",
  sync_id bigint not null,
  -- Null: data and hidden stay as they are, only the groups change.
  data json,
  hidden json,
  groups text[] not null,
  primary key (world, model, id)
);

-- Whether rewritten records of the tenant count; and the position at which its group rules changed last: a premise on a
-- group that was read before it counts as moved.
alter table holdfast.head
  add column rewriting boolean not null default false,
  add column regrouped_at bigint not null default 0;

-- Each record in the words of its tenant's newest schema. `limit 1` makes each record one probe of the key, whatever the
-- statistics say of a table that is empty most of the time.
create view holdfast.present_record as
  select r.world, r.model, r.id, r.sync_id, coalesce(n.data, r.data) as data, coalesce(n.groups, r.groups) as groups,
    r.archived_at, r.created_sync_id, r.created_by, r.created_at, r.updated_at, r.updated_by,
    case when n.data is null then r.hidden else n.hidden end as hidden
  from holdfast.record r join holdfast.head h on h.world = r.world
  left join lateral (
    select n.data, n.hidden, n.groups from holdfast.rewritten_record n
    where h.rewriting and n.world = r.world and n.model = r.model and n.id = r.id and n.sync_id = r.sync_id limit 1) n on true;

create index head_rewriting on holdfast.head (world) where rewriting;
