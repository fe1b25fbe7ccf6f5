-- Organizations, their tenants, and the keys that open them.

create table holdfast.organization (
  id text primary key,
  name text not null,
  created_at timestamptz(3) not null default clock_timestamp()
);

-- Databases beside the service's own, and which tenants live in them.
create table holdfast.datasource (
  id text primary key,
  -- Who registered it. Null: the operator, for any tenant.
  tenant integer unique,
  -- The connection string, encrypted with the master key for this datasource.
  connection bytea not null,
  host text not null,
  database text not null,
  schema text not null,
  display_name text,
  metadata json not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  -- Whether new organizations may be placed there. A database that is being drained takes none.
  takes_new boolean not null default true
);

-- An organization in one environment. Its small number leads every key below, so that the tables can be spread by it.
create table holdfast.tenant (
  id integer generated always as identity primary key,
  organization text not null references holdfast.organization,
  livemode boolean not null,
  -- Where its records and log are. Null: in the service's own database.
  home text references holdfast.datasource,
  unique (organization, livemode)
);
alter table holdfast.datasource add foreign key (tenant) references holdfast.tenant;

create table holdfast.secret_key (
  id text primary key,
  tenant integer not null references holdfast.tenant,
  hash bytea not null unique,
  last4 text not null,
  label text,
  -- The key that the environment named at start; another one there revokes it.
  configured boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  revoked_at timestamptz(3)
);
create index secret_key_tenant on holdfast.secret_key (tenant);
-- Every process asks once a second which keys and tokens were revoked.
create index secret_key_revoked on holdfast.secret_key (revoked_at) where revoked_at is not null;

-- Tokens that a secret key minted: capabilities of agents (rk_) and ephemeral keys of people (ek_).
create table holdfast.scoped_token (
  id text primary key,
  tenant integer not null references holdfast.tenant,
  kind text not null check (kind in ('capability', 'ephemeral_key')),
  hash bytea not null unique,
  last4 text not null,
  participant_kind text not null,
  participant_id text not null,
  operations text[] not null,
  sync_groups text[] not null,
  label text,
  user_meta json,
  rotated_from text,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
create index scoped_token_page on holdfast.scoped_token (tenant, kind, created_at, id);
create index scoped_token_participant on holdfast.scoped_token (tenant, kind, participant_id);
create index scoped_token_end on holdfast.scoped_token (expires_at);
create index scoped_token_revoked on holdfast.scoped_token (revoked_at) where revoked_at is not null;

-- A token that ended. Tokens themselves are in the service's own database, claims in that of their tenant.
create table holdfast.ended_token (
  id text primary key,
  tenant integer not null,
  ended_at timestamptz not null
);

-- What every process of this service shares and no caller sees.
create table holdfast.service_secret (
  name text primary key,
  value bytea not null
);
insert into holdfast.service_secret (name, value)
values ('page_cursor', sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea)),
  -- Tells services apart, so that none takes the database of another.
  ('service', decode(replace(gen_random_uuid()::text, '-', ''), 'hex'));

-- What each tenant did, by UTC day.
create table holdfast.usage (
  tenant integer not null,
  day date not null,
  event_name text not null,
  count bigint not null,
  primary key (tenant, day, event_name)
);

-- The log, the rows that it adds up to, and the receipts that make a retry harmless.
-- Bodies are json, never jsonb: jsonb reorders keys and rewrites numbers.

-- One row per tenant, updated by every round of commits: the head of its log.
create table holdfast.head (
  tenant integer primary key references holdfast.tenant,
  log_id text not null,
  sync_id bigint not null default 0,
  -- Made the entry at `sync_id`; null if it came without a client id.
  writer text,
  -- The newest entry of another writer.
  other_sync_id bigint not null default 0,
  last_at timestamptz(3) not null default clock_timestamp(),
  schema_version integer not null default 0,
  trimmed_to bigint not null default 0,
  -- The number of the last change of a claim. Every change is made under the head's lock and takes the next one, so that
  -- readers can continue from where they were. A grant's number is its fence.
  claim_change bigint not null default 0,
  -- How many have not ended: if there is none, no write asks for any.
  claims integer not null default 0,
  -- Where the newest erasure stands: pages of the log that were read before it are read again.
  erased_to bigint not null default 0,
  -- Whether rewritten records of the tenant count.
  rewriting boolean not null default false,
  -- Where its group rules changed last: a premise on a group that was read before it counts as moved.
  regrouped_at bigint not null default 0
) with (fillfactor = 10);
create index head_rewriting on holdfast.head (tenant) where rewriting;

create table holdfast.model_schema (
  tenant integer not null references holdfast.tenant,
  version integer not null,
  hash text not null,
  body json not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (tenant, version)
);

create table holdfast.log (
  tenant integer not null,
  sync_id bigint not null,
  model text not null,
  id text not null,
  verb text not null,
  data json,
  changed_fields json,
  groups text[] not null,
  -- Null when the record was in the same groups before.
  groups_before text[],
  client_tx_id text not null,
  client_id text,
  transaction_id text,
  actor text not null,
  participant_kind text not null,
  claim text,
  created_at timestamptz(3) not null,
  -- Of an entry that ends a record: where it was created. Null: the entry ends none, or the creation was trimmed.
  created_sync_id bigint,
  -- A change may bring a record to a reader who had not seen it: since when it is archived (of an update), who created it,
  -- and when.
  archived_at timestamptz(3),
  record_created_at timestamptz(3),
  record_created_by text,
  primary key (tenant, sync_id)
);
-- The creating entries are left out, because much of a create's cost is its indexes: the record says where it was created,
-- and the entry that ends it says so too.
create index log_record on holdfast.log (tenant, id, model, sync_id) where verb <> 'created';
create index log_life on holdfast.log (tenant, id, model, created_sync_id) where created_sync_id is not null;

create table holdfast.record (
  tenant integer not null,
  model text not null collate "C",
  id text not null collate "C",
  sync_id bigint not null,
  -- Null: the record's values are in a table of the caller's.
  data json,
  groups text[] not null,
  archived_at timestamptz(3),
  created_sync_id bigint not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  updated_by text not null,
  -- Values that a forced schema change hides: kept beside the row until the schema declares them again.
  hidden json,
  primary key (tenant, model, id)
);
create index record_hidden on holdfast.record (tenant, model) where hidden is not null;

-- Records in the words of a schema that is being pushed. A push prepares them here in steps, beside the writers; from the
-- moment when it lands they count instead of the record's row, and then move there in steps. A row counts only for the
-- entry that it was prepared from: a record that was written since has another position.
create table holdfast.rewritten_record (
  tenant integer not null,
  model text not null collate "C",
  id text not null collate "C",
  sync_id bigint not null,
  -- Null: data and hidden stay as they are, only the groups change.
  data json,
  hidden json,
  groups text[] not null,
  primary key (tenant, model, id)
);

-- Each record in the words of its tenant's newest schema. `limit 1` makes each record one probe of the key, whatever the
-- statistics say of a table that is empty most of the time.
create view holdfast.present_record as
  select r.tenant, r.model, r.id, r.sync_id, coalesce(n.data, r.data) as data, coalesce(n.groups, r.groups) as groups,
    r.archived_at, r.created_sync_id, r.created_by, r.created_at, r.updated_at, r.updated_by,
    case when n.data is null then r.hidden else n.hidden end as hidden
  from holdfast.record r join holdfast.head h on h.tenant = r.tenant
  left join lateral (
    select n.data, n.hidden, n.groups from holdfast.rewritten_record n
    where h.rewriting and n.tenant = r.tenant and n.model = r.model and n.id = r.id and n.sync_id = r.sync_id limit 1) n on true;

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

-- The newest entry of each group, and the newest of another writer: see head.
create table holdfast.group_head (
  tenant integer not null,
  name text not null,
  sync_id bigint not null,
  writer text,
  other_sync_id bigint not null,
  primary key (tenant, name)
) with (fillfactor = 50);

-- `name` is a commit's key or clientTxId; an operation's own key is "operation <key>" and has no body.
create table holdfast.receipt (
  tenant integer not null,
  participant text not null,
  name text not null,
  fingerprint text not null,
  body json,
  held boolean not null,
  created_at timestamptz(3) not null,
  -- The name tells one receipt from the others, so it is compared first.
  primary key (tenant, name, participant)
);
create index receipt_age on holdfast.receipt using brin (created_at);
-- An erase searches the receipts of held commits for values: only these have any.
create index receipt_held on holdfast.receipt (tenant) where held;

-- A held commit's receipt without the values of these records (`<model in lower case>/<id>`); all else stays as it was sent.
create function holdfast.without_values(body json, records text[]) returns json language sql immutable as $$
  select json_object_agg(part.key, case when part.key <> 'notifications' then part.value else (
      select json_agg(case when lower(notice.value ->> 'model') || '/' || (notice.value ->> 'id') <> all(records) then notice.value else (
          select json_object_agg(item.key, case when item.key = 'currentValues' then '{}' else item.value end order by item.nth)
          from json_each(notice.value) with ordinality as item(key, value, nth)) end order by notice.nth)
      from json_array_elements(part.value) with ordinality as notice(value, nth)) end order by part.nth)
  from json_each(body) with ordinality as part(key, value, nth)
$$;

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

-- What a round of creates takes for granted: it fails as a whole where that is not so.
create function holdfast.expect(met boolean, otherwise text) returns boolean language plpgsql as $$
begin
  if met is not true then
    raise exception using errcode = 'WM001', message = otherwise;
  end if;
  return true;
end $$;

-- If a record is there, its insert fails, so only what happened to it after its creation is asked for.
create function holdfast.expect_unseen(tenants bigint[], models text[], ids text[], positions bigint[])
returns boolean language plpgsql as $$
begin
  return cardinality(tenants) = 0 or holdfast.expect(not exists (
    select from unnest(tenants, models, ids, positions) as k(tenant, model, id, after)
    cross join lateral (
      select from holdfast.log l
      where l.tenant = k.tenant and l.model = k.model and l.id = k.id and l.verb <> 'created' and l.sync_id > k.after limit 1) l
  ), 'A record was there after it was read.');
end $$;

-- How a field is read out of a record to compare and to sort by: the same in a list's query and in an index.
-- A value of another type than asked for counts as none. None of these may fail, whatever the field holds: an index over
-- it would then refuse the write. One that was shipped is never changed, since indexes were built with it: add another.

-- Text by its first 500 characters: an index entry holds no more than 2 700 bytes.
create function holdfast.text_of(data json, field text) returns text language sql immutable parallel safe
  return case when json_typeof(data -> field) = 'string' then left(data ->> field, 500) end;

create function holdfast.number_of(data json, field text) returns float8 language sql immutable parallel safe
  return substring((data -> field)::text collate "C" from '^[-0-9].*')::float8;

create function holdfast.boolean_of(data json, field text) returns boolean language sql immutable parallel safe
  return substring((data -> field)::text collate "C" from '^(?:true|false)$')::boolean;

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

-- A text in the form in which words are searched in it. Clients do the same: see text-search.ts of the SDK's protocol,
-- which says why. Which collation has Unicode's lower case depends on the version of Postgres and on how it was built;
-- where none has, only ASCII letters are found in upper and lower case. `normalize` is slow, and ASCII needs none.
do $migration$
declare
  lowering text := coalesce(
    (select format('%I.%I', n.nspname, c.collname) from pg_collation c join pg_namespace n on n.oid = c.collnamespace
     where c.collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8') and c.collencoding in (-1, pg_char_to_encoding('UTF8'))
     order by array_position(array['pg_c_utf8', 'und-x-icu', 'C.utf8'], c.collname::text) limit 1),
    'pg_catalog."C"');
begin
  execute format($function$
    create function holdfast.folded(whole text) returns text language plpgsql immutable strict parallel safe as $$
    begin
      -- A record of that size is unreadable, and of much more Postgres could not make the folded text.
      if octet_length(whole) > 16777216 then
        return '';
      end if;
      if octet_length(whole) = length(whole) then
        return lower(whole collate "C");
      end if;
      -- İ has two code points in lower case, which not every collation gives it.
      return replace(replace(
        normalize(lower(replace(whole, E'\u0130', E'i\u0307') collate %s), NFC), E'\u03c2', E'\u03c3'), E'i\u0307', 'i');
    end $$
  $function$, lowering);
end $migration$;

create function holdfast.searchable(data json, field text) returns text language sql immutable parallel safe
  return case when json_typeof(data -> field) = 'string' then holdfast.folded(data ->> field) end;

-- Claims: who holds a record, or one of its fields, and who waits in the queue for it. A row stays when its claim ended.
create table holdfast.claim (
  tenant integer not null,
  id text not null collate "C",
  model text not null collate "C",
  record text not null collate "C",
  -- Null: the whole record.
  field text,
  status text not null,
  -- `<kind>:<id>`
  participant text not null collate "C",
  token text not null,
  client_id text,
  -- The groups that the token reaches, asked again when it is granted; null: every record.
  groups text[],
  action text not null,
  description text,
  meta json,
  ttl_ms integer not null,
  -- The order of the queue.
  place bigint not null,
  fence bigint,
  change bigint not null,
  created_at timestamptz(3) not null,
  granted_at timestamptz(3),
  -- Only of one that is held.
  expires_at timestamptz(3),
  ended_at timestamptz(3),
  -- The last sign of life of one that waits.
  seen_at timestamptz(3) not null,
  -- When its token was revoked: the claim ends then.
  revoked_at timestamptz(3),
  -- In which queue it is, and who waits in it; null once that is over.
  queue text collate "C" generated always as (case when ended_at is null then tenant::text || '/' || model || '/' || record end) stored,
  waiter text collate "C" generated always as (
    case when status = 'queued' then tenant::text || '/' || participant || coalesce(' ' || client_id, '') end) stored,
  -- Whom it excludes others for: a participant, or one device of it.
  holder text collate "C" not null generated always as (participant || coalesce(' ' || client_id, '')) stored,
  -- How far the log of the tenant reached at the grant: a holder that has read up to there has seen all that the holders
  -- before it wrote. Null: never granted.
  granted_sync_id bigint,
  primary key (tenant, id)
) with (fillfactor = 70);
-- What a round asks for is one key with one index. No other index can answer it: a plan made while the table is empty
-- could take that one, and read every claim for each key.
create index claim_queue on holdfast.claim (queue);
create index claim_waiter on holdfast.claim (waiter);
create index claim_token on holdfast.claim (token) where ended_at is null;
create index claim_expiry on holdfast.claim (expires_at) where status = 'active';
create index claim_silence on holdfast.claim (seen_at) where status = 'queued';
create index claim_change on holdfast.claim (tenant, change);
create index claim_revoked on holdfast.claim (revoked_at) where ended_at is null and revoked_at is not null;
create index claim_ended on holdfast.claim (ended_at) where ended_at is not null;
-- A participant's claims are counted where there are many: no round asks for them by anything else.
create index claim_participant on holdfast.claim (tenant, participant) where ended_at is null;

-- A number for fences that is greater than all that were given before, also by a database of which nothing is left: the
-- microseconds since 1970. Claims are not granted that fast, so numbers that count up from there stay below the next such time.
create function holdfast.fence_floor(claim_change bigint) returns bigint language sql volatile as $$
  select greatest(claim_change + 1000000000, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
$$;

-- Webhooks: who is told of the log, how far they are, and what came of each attempt.

create table holdfast.webhook_endpoint (
  tenant integer not null references holdfast.tenant,
  id text not null collate "C",
  url text not null,
  -- Names of models as declared, or `*` alone.
  enabled_events text[] not null,
  description text,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Null: it is enabled.
  disabled_reason text,
  -- Raised by what makes the same positions tell something else.
  revision integer not null default 1,
  -- Everything up to there was delivered, skipped, or not subscribed to.
  cursor bigint not null,
  -- Begun at this cursor.
  attempt integer not null default 0,
  -- Where the batch ends that is being tried: it may shrink, and never grows.
  batch_to bigint,
  batch_size integer not null,
  next_attempt_at timestamptz(3),
  -- Whose request is in flight, since when, and until when no other process sends one.
  lease text,
  leased_at timestamptz(3),
  leased_until timestamptz(3),
  last_error json,
  last_success_at timestamptz(3),
  -- Sealed with the master key, bound to the organisation and to this row.
  secret bytea not null,
  secret_last4 text not null,
  old_secret bytea,
  old_secret_until timestamptz(3),
  -- Attempts ever, for their numbers.
  attempts bigint not null default 0,
  -- Counts up with every change of the row, so that two writers notice each other.
  version bigint not null default 0,
  primary key (tenant, id)
) with (fillfactor = 50);
create index webhook_endpoint_enabled on holdfast.webhook_endpoint (tenant) where disabled_reason is null;

-- The newest thousand of each endpoint: the slot of an attempt is its number modulo that.
create table holdfast.webhook_attempt (
  tenant integer not null,
  endpoint text not null collate "C",
  slot integer not null,
  nth bigint not null,
  id text not null,
  kind text not null,
  webhook_id text,
  from_sync_id bigint,
  to_sync_id bigint,
  events integer not null,
  attempt integer not null,
  outcome text not null,
  status integer,
  error_code text,
  error_message text,
  response text,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  primary key (tenant, endpoint, slot)
);
create index webhook_attempt_age on holdfast.webhook_attempt using brin (started_at);

-- Tables of the caller's own in this database whose rows are a tenant's records. Triggers on such a table write each
-- change of a row to captured_change, in the transaction that makes it; the server turns them into log entries.
create table holdfast.attached_table (
  tenant integer not null references holdfast.tenant on delete cascade,
  -- In lower case, as in holdfast.record.
  model text not null collate "C",
  relation regclass not null unique,
  -- As it was named when it was attached: `"public"."slides"`.
  name text not null,
  key_column text not null,
  -- detaching: the triggers are gone, what they captured is recorded, and the values come to the records.
  status text not null default 'attached' check (status in ('attached', 'detaching')),
  -- The key up to which they have come; null: none yet.
  copied_to text,
  -- The key up to which its rows have got entries, if that was asked for.
  emitted_to text,
  -- Why its changes cannot be recorded. They wait.
  problem text,
  -- What the catalog said of the table when it was last looked at: see catalog_facts. Null: not yet.
  facts json,
  -- Why rows may have been written without being captured, until `tables verify --repair`.
  missed text,
  -- Where the log stood when it was attached: rows that the log has not named since count as made there.
  attached_sync_id bigint not null,
  -- The group rules of its model: [{"kind", "from"}]
  group_rules json not null default '[]',
  attached_at timestamptz(3) not null default clock_timestamp(),
  primary key (tenant, model)
);

-- Which column has the value of which field.
create table holdfast.attached_column (
  tenant integer not null,
  model text not null collate "C",
  position integer not null,
  field text not null,
  name text not null,
  -- The type of the field: `string`. A column whose values it does not take makes the table broken.
  declared text not null,
  primary key (tenant, model, position),
  foreign key (tenant, model) references holdfast.attached_table on delete cascade
);

-- What statements did to rows of attached tables. Of an insert there is no `before`, of a deletion no `after`.
create table holdfast.captured_change (
  tenant integer not null,
  -- In the order in which the statements of a transaction ran. Transactions commit in another order: no reader may
  -- remember how far it has read.
  seq bigint generated always as identity,
  tx xid8 not null default pg_current_xact_id(),
  model text not null collate "C",
  -- json and not jsonb: jsonb cannot store what json can, so the caller's own statement would fail.
  -- An image that is too large to be read is an array instead of an object: its bytes (null: Postgres cannot make it) and the key.
  before json,
  after json,
  -- See capture_change: has one of the two, and in `present` the row of that key as the table has it then. Null: none.
  nested boolean not null default false,
  present json,
  -- The row's key as text, and the bytes of the images: so that nothing has to read an image to find or to count a change.
  key text collate "C",
  bytes bigint not null,
  captured_at timestamptz(3) not null default statement_timestamp(),
  primary key (tenant, seq)
);
-- The changes of one row in a transaction, however many others it has. A key is of any length, an index entry is not.
-- `-seq`: ordered by `seq`, Postgres might read all changes in the order of the primary key until one is of the row.
create index captured_change_row on holdfast.captured_change (tenant, model, tx, left(key, 513), nested, (-seq));

-- Whether our role sees all rows of a table. If its rights were taken away, the caller's own statement must not fail.
-- Row level security fails no statement: a policy must show all rows, and none take some away (as in readTableRights,
-- which also runs in a database without this schema).
create function holdfast.reads_rows(relation regclass) returns boolean stable language sql
  set search_path = pg_catalog, pg_temp
as $$
  select has_table_privilege(oid, 'select') and has_schema_privilege(relnamespace, 'usage')
      and (not row_security_active(oid) or coalesce((
        select bool_or(polpermissive and pg_get_expr(polqual, polrelid) = 'true') and bool_and(polpermissive)
          from pg_policy where polrelid = relation and polcmd in ('r', '*')
            and exists (select from unnest(polroles) r where case r when 0 then true else pg_has_role(r, 'usage') end)
      ), false))
    from pg_class where oid = relation
$$;

-- How many bytes the JSON of a value has; of a text that is too large at least so many. Infinite: Postgres cannot make it.
create function holdfast.json_bytes(value anyelement) returns float8 language plpgsql stable as $$
begin
  if pg_typeof(value) in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) then
    if octet_length(value::text) > 16777216 then
      return octet_length(value::text) + 2;
    end if;
  end if;
  return coalesce(octet_length(to_json(value)::text), 4);
exception when others then
  return 'infinity';
end $$;

-- Whether the JSON of a type's values is made by a cast, of the type or of what it is made of: a function of the caller's,
-- which may fail at any value.
create function holdfast.has_json_cast(of_type oid) returns boolean stable language sql
  set search_path = pg_catalog, pg_temp
as $$
  with recursive part (type) as (
    select of_type
    union
    select x.type from part p join pg_type t on t.oid = p.type cross join lateral (
      select t.typbasetype where t.typtype = 'd'
      union all select t.typelem where t.typsubscript = 'array_subscript_handler'::regproc
      union all select a.atttypid from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    ) x (type)
  )
  select exists (select from part p join pg_cast k
    on k.castsource = p.type and k.casttarget = 'json'::regtype and k.castmethod = 'f')
$$;

-- The SQL for how many bytes of JSON a row `r` of a table has at most, without making it: JSON has up to six letters for one
-- of a text, eight bytes of a number may have 131 072 digits, and what compressed values or a cast of the caller's come to is
-- not known. Null: only few.
create function holdfast.size_sql(of_relation oid) returns text stable language sql as $$
  select pg_catalog.string_agg(pg_catalog.format(
      case when a.atttypid in ('text'::pg_catalog.regtype, 'varchar'::pg_catalog.regtype, 'bpchar'::pg_catalog.regtype)
        then 'coalesce(octet_length(r.%1$I)::bigint * 6, 0)'
        when k.has_cast then 'case when r.%1$I is null then 0 else 16777216 end'
        else 'case when pg_column_compression(r.%1$I) is null then coalesce(pg_column_size(r.%1$I)::bigint * 16384, 0)
          else 16777216 end' end,
      a.attname), ' + ')
    from pg_catalog.pg_attribute a cross join lateral (select holdfast.has_json_cast(a.atttypid) as has_cast) k
    where a.attrelid = of_relation and a.attnum > 0 and not a.attisdropped and a.attgenerated <> 'v'
      and (a.attlen < 0 or k.has_cast)
$$;

-- How many JSON values a text has, about: its commas outside of texts. Zero: it is short. What is made of JSON takes memory by
-- the values, and not by the bytes.
create function holdfast.json_values(spelled text) returns integer immutable strict language plpgsql as $$
declare
  commas integer;
begin
  if octet_length(spelled) < 1000000 then
    return 0;
  end if;
  commas := octet_length(spelled) - octet_length(replace(spelled, ',', ''));
  if commas > 500000 then
    spelled := regexp_replace(spelled, '"(?:[^"\\]|\\.)*"', '', 'g');
    commas := octet_length(spelled) - octet_length(replace(spelled, ',', ''));
  end if;
  return commas;
end $$;

-- An image, or that it has more than 500 000 values (READABLE_VALUES), by a number below zero.
create function holdfast.bounded_image(image json, key text) returns json immutable language sql as $$
  select case when v.count > 500000 then json_build_array(-v.count, key) else image end
    from (select holdfast.json_values(image::text) as count offset 0) v
$$;

-- The SQL for the image of a row `r` of a table. An image of more than 16 MiB (READABLE_BYTES) is never made: then only the
-- columns of fields count, and if these are too large as well, it says so instead. `guarded`: rows may be as large.
create function holdfast.image_sql(of_relation oid, of_tenant integer, of_model text, key_column text, guarded boolean)
returns text stable language sql as $$
  select pg_catalog.format(case when pg_catalog.bool_or(c.has_values) and pg_catalog.bool_or(c.is_key)
      then 'holdfast.bounded_image(%s, r.%I::text)' else '%s' end, case when not guarded then p.plain else pg_catalog.format(
      'case when %1$s < 16777216 then %8$s else (
        select case when s.whole <= 16777216 then (select row_to_json(d.*) from (select %2$s) d)
            when s.own <= 16777216 then (select row_to_json(d.*) from (select %3$s) d)
            else json_build_array(nullif(s.own, ''infinity'')::bigint, r.%4$I::text) end
          from (select %5$s as whole, %6$s as own from (select %7$s offset 0) b) s) end',
      coalesce(holdfast.size_sql(of_relation), '0'),
      pg_catalog.string_agg(c.named, ', ') filter (where c.is_text), pg_catalog.string_agg(c.named, ', ') filter (where c.is_own),
      key_column,
      pg_catalog.string_agg(c.size, ' + ') filter (where c.is_text), pg_catalog.string_agg(c.size, ' + ') filter (where c.is_own),
      pg_catalog.string_agg(c.sized, ', ') filter (where c.is_text), p.plain) end, key_column)
  from (
    select pg_catalog.format('r.%I', a.attname) as named, pg_catalog.format('b.b%s', a.attnum) as size,
      pg_catalog.format('%s + holdfast.json_bytes(r.%I) as b%s',
        pg_catalog.octet_length(pg_catalog.to_json(a.attname)::text) + 2, a.attname, a.attnum) as sized,
      a.atttypid not in ('bytea'::pg_catalog.regtype, 'tsvector'::pg_catalog.regtype) as is_text,
      a.attname = key_column or a.atttypid not in ('bytea'::pg_catalog.regtype, 'tsvector'::pg_catalog.regtype)
        and exists (select from holdfast.attached_column o
          where o.tenant = of_tenant and o.model = of_model and o.name = a.attname) as is_own,
      a.attname = key_column as is_key,
      a.attlen < 0 and a.atttypid not in ('text'::pg_catalog.regtype, 'varchar'::pg_catalog.regtype,
        'bpchar'::pg_catalog.regtype, 'numeric'::pg_catalog.regtype, 'bytea'::pg_catalog.regtype) as has_values
    from pg_catalog.pg_attribute a
    where a.attrelid = of_relation and a.attnum > 0 and not a.attisdropped and a.attgenerated <> 'v') c
  -- A column that is computed when it is read may fail at any value.
  cross join lateral (
    select case when count(*) filter (where a.attgenerated = 'v') = 0 then 'row_to_json(r.*)'
      else pg_catalog.format('(select row_to_json(d.*) from (select %s) d)',
        pg_catalog.string_agg(pg_catalog.format('r.%I', a.attname), ', ' order by a.attnum) filter (where a.attgenerated <> 'v'))
      end as plain
    from pg_catalog.pg_attribute a where a.attrelid = of_relation and a.attnum > 0 and not a.attisdropped) p
  group by p.plain
$$;

-- Runs once per statement, in the caller's transaction and with the owner's rights: the caller needs none on this schema.
-- The settings make the text of a row the same whatever the caller's session has set. Nothing looks into the json: a NUL
-- in it would fail the caller's statement.
--
-- A trigger of the caller's that writes the same row is captured before the statement that fired it, and a statement may
-- give one row the key that another one had. In transactions with such changes their order says nothing, and the table
-- itself says what became of a row. Of a partitioned table no trigger sees that a key changes. If a statement deletes rows
-- and inserts rows of the same keys, its deletions may be captured last: then the table says what became of those.
create function holdfast.capture_change() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, MDY' set intervalstyle = 'iso_8601'
  set extra_float_digits = 1 set bytea_output = 'hex' set lc_monetary = 'C'
as $$
declare
  of_tenant constant integer := tg_argv[0];
  of_model constant text := tg_argv[1];
  key_column constant text := tg_argv[2];
  is_partitioned constant boolean := tg_argv[3];
  -- The whole table: a row may be in another partition by now.
  whole constant regclass := coalesce(pg_partition_root(tg_relid), tg_relid);
  -- 1: the first column. A renamed key (null) does not fail the caller's statement: the collector reports it.
  key_place constant bigint := (
    select (select count(*) from pg_attribute b
        where b.attrelid = tg_relid and b.attnum between 1 and a.attnum and not b.attisdropped)
      from pg_attribute a where a.attrelid = tg_relid and a.attname = key_column and not a.attisdropped);
  has_key constant boolean := key_place is not null;
  key constant text := case when has_key then format('r.%I', key_column) else 'null' end;
  size text;
  is_nested boolean;
  is_large boolean := false;
  image text;
begin
  -- What `write_at_once` writes it returns itself. A cascade is no such thing.
  if current_setting('holdfast.at_once', true) = pg_current_xact_id()::text then
    if pg_trigger_depth() > 1 then
      raise exception using errcode = 'HF005';
    end if;
    return null;
  end if;
  -- A partition that was detached keeps its triggers.
  if is_partitioned and not exists (
    select from holdfast.attached_table where tenant = of_tenant and model = of_model and relation = whole)
  then
    return null;
  end if;
  if tg_op = 'TRUNCATE' then
    if not holdfast.reads_rows(tg_relid) then
      return null;
    end if;
    -- Before the rows are gone. `offset 0`: an image would be made again for each use of it. Those of a partitioned table are in its partitions, which are truncated too.
    execute format('insert into holdfast.captured_change (tenant, model, key, before, bytes)
        select $1, $2, c.key, c.image, octet_length(c.image::text)
        from (select %s::text as key, %s as image from %s%s r offset 0) c',
        key, holdfast.image_sql(tg_relid, of_tenant, of_model, key_column, has_key),
        case when is_partitioned then 'only ' else '' end, tg_relid::regclass)
      using of_tenant, of_model;
    return null;
  end if;
  if pg_trigger_depth() > 1 or is_partitioned and tg_op = 'UPDATE' then
    perform set_config('holdfast.nested_in', pg_current_xact_id()::text, true);
  end if;
  is_nested := current_setting('holdfast.nested_in', true) = pg_current_xact_id()::text;
  if tg_op = 'INSERT' then
    perform set_config('holdfast.inserted_at', statement_timestamp()::text, true);
  elsif tg_op = 'DELETE' and current_setting('holdfast.inserted_at', true) = statement_timestamp()::text then
    is_nested := true;
  end if;
  -- Under a key that is checked at the end of the transaction, two rows have one key meanwhile.
  is_nested := is_nested or exists (select from pg_index where indrelid = tg_relid and indisprimary and not indimmediate);
  is_nested := is_nested and has_key and holdfast.reads_rows(whole);
  -- Most tables: the key is the first column, and no row has much JSON. Statements that need no name of a column
  -- are planned once for a session, which takes a quarter of the time. One with a join must not be: it would be planned for
  -- few rows, and take the square of their number where they are many.
  if not is_nested and key_place = 1 and not is_partitioned
    and (select coalesce(pg_relation_size(reltoastrelid), 0) < 8192 from pg_class where oid = tg_relid)
    and not exists (select from pg_attribute a left join pg_cast k
      on k.castsource = a.atttypid and k.casttarget = 'json'::regtype and k.castmethod = 'f'
      where a.attrelid = tg_relid and a.attnum > 0 and not a.attisdropped and (a.attgenerated = 'v' or k.castsource is not null
        or a.attlen < 0 and a.atttypid not in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'numeric'::regtype)))
  then
    if tg_op = 'INSERT' then
      insert into holdfast.captured_change (tenant, model, key, after, bytes)
        select of_tenant, of_model, c.key, c.image, octet_length(c.image::text)
        from (select k.key::text as key, row_to_json(r.*) as image
          from new_rows r cross join lateral (select r.*) as k(key) offset 0) c;
      return null;
    elsif tg_op = 'DELETE' then
      insert into holdfast.captured_change (tenant, model, key, before, bytes)
        select of_tenant, of_model, c.key, c.image, octet_length(c.image::text)
        from (select k.key::text as key, row_to_json(r.*) as image
          from old_rows r cross join lateral (select r.*) as k(key) offset 0) c;
      return null;
    elsif (select count(*) from (select from new_rows limit 16) r) < 16 then
      insert into holdfast.captured_change (tenant, model, key, before, after, bytes)
        select of_tenant, of_model, n.key, o.image, n.image, octet_length(o.image::text) + octet_length(n.image::text)
        from (select row_to_json(r.*) as image, row_number() over () as n from old_rows r) o
        join (select k.key::text as key, row_to_json(r.*) as image, row_number() over () as n
          from new_rows r cross join lateral (select r.*) as k(key)) n using (n) order by n;
      return null;
    end if;
  end if;
  size := holdfast.size_sql(tg_relid);
  if has_key and size is not null then
    execute format('select %s', (
      select string_agg(format('exists (select from %s r where %s >= 16777216)', transition, size), ' or ')
        from (values ('old_rows', 'INSERT'), ('new_rows', 'DELETE')) as t(transition, without) where without <> tg_op))
      into is_large;
  end if;
  image := holdfast.image_sql(tg_relid, of_tenant, of_model, key_column, is_large);
  if is_nested then
    execute format('insert into holdfast.captured_change (tenant, model, key, before, after, nested, present, bytes)
        select $1, $2, c.key::text, c.before, c.after, true, c.present,
          octet_length(coalesce(c.before, c.after)::text) + coalesce(octet_length(c.present::text), 0)
        from (select c.*, (select %4$s from %1$s r where r.%2$I = c.key limit 1) as present from (%3$s) c offset 0) c',
      whole, key_column,
      (select string_agg(format('select %s, r.%I as key from %s r', row_images, key_column, transition), ' union all ')
        from (values (image || ' as before, null::json as after', 'old_rows', 'INSERT'),
          ('null::json as before, ' || image || ' as after', 'new_rows', 'DELETE')) as c(row_images, transition, without)
        where without <> tg_op),
      holdfast.image_sql(whole, of_tenant, of_model, key_column, size is not null))
      using of_tenant, of_model;
  elsif tg_op = 'UPDATE' then
    -- Both transition tables have the rows in the order in which the statement updated them.
    execute format('insert into holdfast.captured_change (tenant, model, key, before, after, bytes)
        select $1, $2, n.key, o.image, n.image, octet_length(o.image::text) + octet_length(n.image::text)
        from (select %1$s as image, row_number() over () as n from old_rows r) o
        join (select %2$s::text as key, %1$s as image, row_number() over () as n from new_rows r) n using (n) order by n',
      image, key)
      using of_tenant, of_model;
  else
    execute format('insert into holdfast.captured_change (tenant, model, key, %1$s, bytes)
        select $1, $2, c.key, c.image, octet_length(c.image::text)
        from (select %2$s::text as key, %3$s as image from %4$s r offset 0) c',
      case tg_op when 'INSERT' then 'after' else 'before' end, key, image,
      case tg_op when 'INSERT' then 'new_rows' else 'old_rows' end)
      using of_tenant, of_model;
  end if;
  return null;
end $$;

-- For a row whose key changes: it fires before the statement's own trigger.
create function holdfast.capture_key_change() returns trigger language plpgsql as $$
begin
  perform set_config('holdfast.nested_in', pg_current_xact_id()::text, true);
  return null;
end $$;

-- Whoever may call it in a trigger of their own could write into any tenant.
revoke all on function holdfast.capture_change() from public;

-- How some values come into a record otherwise than to_json has them. A time as JavaScript writes it; all digits stay. What
-- no date-time can be is null.
create function holdfast.time_text(value timestamptz) returns text language sql stable parallel safe
  return case when isfinite(value) and value >= '0001-01-01 00:00Z' and value < '10000-01-01 00:00Z'
    then to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')
      || rtrim(right(to_char(value at time zone 'UTC', 'US'), 3), '0') || 'Z' end;

-- NUL and halves of characters become U+FFFD: a json column can have them, and no field of a record can be read that has.
create function holdfast.storable_json(value json) returns json language plpgsql immutable strict parallel safe as $$
declare
  spelled constant text := value::text;
begin
  if spelled !~ '\\u(0000|[dD][89a-fA-F])' then
    return value;
  end if;
  return (
    select string_agg(case when token[1] ~ '^\\u(0000|[dD][89a-fA-F]..)$' then '\ufffd' else token[1] end, '' order by n)
    from regexp_matches(spelled,
      '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+', 'g')
      with ordinality as t(token, n));
end $$;

-- A value whose text would depend on settings of the session.
create function holdfast.pinned_json(value anyelement) returns json language plpgsql stable parallel safe
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, MDY' set intervalstyle = 'iso_8601'
  set extra_float_digits = 1 set bytea_output = 'hex' set lc_monetary = 'C' as $$
begin
  return holdfast.storable_json(to_json(value));
end $$;

-- The same, or null if Postgres cannot make it.
create function holdfast.pinned_or_null(value anyelement) returns json language plpgsql stable as $$
begin
  return holdfast.pinned_json(value);
-- A cast of the caller's may raise anything.
exception when others or assert_failure then
  return null;
end $$;

create function holdfast.texts_or_null(value numeric[]) returns text[] language plpgsql stable as $$
begin
  return value::text[];
exception when program_limit_exceeded or out_of_memory or internal_error then
  return null;
end $$;

-- The JSON of a row. Of one with more than `most` bytes, how many it has; of one whose JSON Postgres cannot make, 0.
create function holdfast.readable_json(of_row record, most integer) returns json language plpgsql stable as $$
declare
  made json;
  count integer;
begin
  made := row_to_json(of_row);
  if pg_column_size(made) > most then
    return to_json(pg_column_size(made));
  end if;
  count := holdfast.json_values(made::text);
  return case when count > 500000 then to_json(-count) else made end;
exception when program_limit_exceeded or out_of_memory or internal_error then
  return '0';
end $$;

-- The next rows of a cursor, up to so many bytes of text; a larger one comes alone.
create function holdfast.fetch_some(rows_of refcursor, most bigint) returns setof text language plpgsql as $$
declare
  one text;
  bytes bigint := 0;
begin
  while bytes < most loop
    fetch next from rows_of into one;
    exit when not found;
    bytes := bytes + 512 + octet_length(one);
    return next one;
  end loop;
end $$;

-- The type of a column, without domains around it: a value of another form would fail a cast.
create function holdfast.base_type(of_relation oid, of_column text) returns text stable language sql as $$
  with recursive types as (
    select a.atttypid as type, a.atttypmod as modifier from pg_catalog.pg_attribute a
      where a.attrelid = of_relation and a.attname = of_column and not a.attisdropped
    union all
    select t.typbasetype, t.typtypmod from types join pg_catalog.pg_type t on t.oid = types.type where t.typtype = 'd'
  )
  select pg_catalog.format_type(type, modifier) from types join pg_catalog.pg_type t on t.oid = types.type
    where t.typtype <> 'd'
$$;

-- What the catalog says that decides values without a write of rows, or whether writes are captured: of each column that is
-- used its number, its expression and its type's labels and members, and `altered`, which changes when the column is altered;
-- of the table and each partition the file, which changes when all rows are written anew, and our triggers.
create function holdfast.catalog_facts(of_relation oid, columns text[]) returns json stable language sql as $$
  select pg_catalog.json_build_object(
    'columns', (select pg_catalog.json_object_agg(a.attname, pg_catalog.json_build_object(
        'number', a.attnum, 'altered', a.xmin::text,
        'expression', case when a.attgenerated <> '' then pg_catalog.pg_get_expr(d.adbin, d.adrelid) end,
        'labels', (select pg_catalog.json_object_agg(e.oid::text, e.enumlabel) from pg_catalog.pg_enum e
          where e.enumtypid in (t.oid, t.typelem, t.typbasetype)),
        'members', (select pg_catalog.json_agg(m.attname order by m.attnum) from pg_catalog.pg_attribute m
          where m.attrelid in (t.typrelid, i.typrelid) and m.attrelid <> 0 and m.attnum > 0 and not m.attisdropped)))
      from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
      left join pg_catalog.pg_type i on i.oid = t.typelem
      left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = of_relation and a.attname = any(columns) and not a.attisdropped),
    'tables', (select pg_catalog.json_object_agg(c.oid::text, pg_catalog.json_build_object(
        'name', c.oid::pg_catalog.regclass::text, 'file', c.relfilenode,
        'triggers', (select coalesce(pg_catalog.json_object_agg(g.tgname, g.xmin::text), '{}')
          from pg_catalog.pg_trigger g where g.tgrelid = c.oid and g.tgname like 'holdfast\_%')))
      from pg_catalog.pg_class c where c.oid = of_relation
        or c.oid in (select relid from pg_catalog.pg_partition_tree(of_relation::pg_catalog.regclass))))
$$;

-- A table's name with its schema: an unqualified one could be the name of something else in a statement.
create function holdfast.table_name(relation oid) returns text stable language sql as $$
  select pg_catalog.format('%I.%I', n.nspname, c.relname)
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = relation
$$;

-- Locks the rows with these keys that no other transaction has locked, in the order of their keys. Returns the keys of
-- all rows that are there, and whether they are free. If the whole table is locked, none is.
create function holdfast.lock_rows(of_relation oid, key_column text, ids text[]) returns table (id text, free boolean)
language plpgsql set enable_seqscan = on set plan_cache_mode = auto as $$
declare
  name constant text := holdfast.table_name(of_relation);
  key_type constant text := holdfast.base_type(of_relation, key_column);
begin
  if name is null or key_type is null then
    return;
  end if;
  return query execute format(
    'with keys as (select $1::%3$s[] as ids), locked as materialized (
        select t.%1$I as key from %2$s t where t.%1$I = any((select ids from keys)::%3$s[])
          order by t.%1$I for no key update skip locked)
      select t.%1$I::text, l.key is not null from %2$s t left join locked l on l.key = t.%1$I
        where t.%1$I = any((select ids from keys)::%3$s[])',
    key_column, name, key_type)
    using ids;
exception when lock_not_available then
  return query select unnest(ids), false;
when syntax_error_or_access_rule_violation or data_exception then
  -- A missing right, or a table that was changed or dropped this moment: the write says so of each commit.
  return;
end $$;

-- Reads records of attached tables by a query of ours. If the table is locked, or cannot be read any more, the last row is
-- empty. It waits for a moment only, because the tenant's other commits wait too. A record of whose values Postgres cannot
-- make JSON has null in JSON instead.
create function holdfast.rows_of(query text, ids text[], with_values boolean[]) returns table (
  tenant integer, model text, id text, sync_id bigint, data json, groups text[], archived_at timestamptz,
  created_sync_id bigint, created_by text, created_at timestamptz, updated_at timestamptz, updated_by text
) language plpgsql set lock_timeout = '20ms' set plan_cache_mode = auto as $$
begin
  return query execute query using ids, with_values;
exception when lock_not_available or syntax_error_or_access_rule_violation or data_exception then
  tenant := null; model := null; id := null;
  return next;
when program_limit_exceeded or internal_error then
  for n in 1 .. cardinality(ids) loop
    begin
      return query execute query using ids[n:n], with_values[n:n];
    exception when program_limit_exceeded or internal_error then
      return query execute format('select r.tenant, r.model, r.id, r.sync_id, json ''null'', r.groups, r.archived_at,
          r.created_sync_id, r.created_by, r.created_at, r.updated_at, r.updated_by from (%s) r', query)
        using ids[n:n], array[false];
    end;
  end loop;
end $$;

-- The columns with these names (a JSON array) as a definition for json_to_record: `"a" text, "b" integer`.
create function holdfast.column_list(of_relation oid, names text) returns text stable language sql as $$
  select pg_catalog.string_agg(pg_catalog.format('%I %s', c.name,
      coalesce(pg_catalog.format_type(a.atttypid, a.atttypmod), 'text')), ', ' order by c.n)
    from pg_catalog.json_array_elements_text(names::json) with ordinality as c(name, n)
    left join pg_catalog.pg_attribute a on a.attrelid = of_relation and a.attname = c.name and not a.attisdropped
$$;

-- The statement that writes rows of a table: $1 has their values as JSON, $2 their ids. It returns the keys of the rows
-- that were written.
create function holdfast.write_statement(action text, relation oid, key_column text, names text) returns text
stable language sql as $$
  select case action
    when 'insert' then pg_catalog.format(
      'insert into %s (%s) select %s from unnest($1) with ordinality as w(image, n), json_to_record(w.image::json) as r(%s)
        order by w.n returning %I::text as key', t.name, c.names, c.of_row, t.columns, key_column)
    when 'update' then pg_catalog.format(
      'update %1$s t set %2$s from unnest($1, $2) as w(image, id), json_to_record(w.image::json) as r(%3$s)
        where t.%4$I = w.id::%5$s returning t.%4$I::text as key', t.name, c.assigned, t.columns, key_column, t.key_type)
    else pg_catalog.format('delete from %1$s t using unnest($2) as w(id) where t.%2$I = w.id::%3$s
        returning t.%2$I::text as key', t.name, key_column, t.key_type)
    end
  from (select holdfast.table_name(relation) as name, holdfast.column_list(relation, names) as columns,
      holdfast.base_type(relation, key_column) as key_type) t,
    (select pg_catalog.string_agg(pg_catalog.quote_ident(name), ', ' order by n) as names,
        pg_catalog.string_agg(pg_catalog.format('r.%I', name), ', ' order by n) as of_row,
        pg_catalog.string_agg(pg_catalog.format('%1$I = r.%1$I', name), ', ' order by n) as assigned
      from pg_catalog.json_array_elements_text(names::json) with ordinality as c(name, n)) c
$$;

-- Writes rows by one statement for each batch, which modules/tables/db/write-statement.ts makes, and returns what the tables made of
-- them. Fails if a row was not written, or one besides.
create function holdfast.write_at_once(statements text[], batches integer[], ids text[], rows text[])
returns table (key text, image text, batch integer) language plpgsql
  set datestyle = 'ISO, MDY' set intervalstyle = 'iso_8601' set extra_float_digits = 1 set bytea_output = 'hex'
  set lc_monetary = 'C' set enable_seqscan = on set plan_cache_mode = auto as $$
#variable_conflict use_column
declare
  one record;
  written bigint;
begin
  for one in
    select w.batch, array_agg(w.image order by w.n) as images, array_agg(w.id order by w.n) as ids
      from unnest(batches, rows, ids) with ordinality as w(batch, image, id, n) group by w.batch order by w.batch
  loop
    return query execute statements[one.batch] using one.images, one.ids, one.batch;
    get diagnostics written = row_count;
    if written <> cardinality(one.ids) then
      raise exception using errcode = 'HF005';
    end if;
  end loop;
end $$;

-- Writes the rows of some commits, each commit whole or not at all: what fails is undone, and the others stay. Deferred
-- constraints are checked at the end of their commit. Returns a line for each commit; `up_to` is the number of the last
-- change that was captured until then.
--
-- `statements`: all rows are different, and their tables have no triggers of the caller's. Then neighbours of one `batch`
-- are written by one of these. If that does not go as each write by itself would (a failure, a row that is not there, a
-- cascade), it is undone, and they are written one by one. Else the first line has what the tables made of the rows, and
-- `up_to` is null: each row's change is its commit's.
--
-- Ends early once it has taken long or has changed many rows, well before the statement's timeout and the server's
-- memory: commits without a line were not written. If a commit reaches the timeout although it is the first one, that
-- is its own result, because no later call would give it more time.
--
-- The settings of planning are for the caller's triggers: the lane has its own. The search path is the session's, for
-- the same reason.
create function holdfast.write_rows(
  of_tenant integer, statements text[], batches integer[], commits integer[], operations integer[], relations oid[],
  key_columns text[], actions text[], ids text[], columns text[], rows text[]
) returns table (
  commit integer, done boolean, operation integer, state text, message text, of_constraint text, of_table text,
  of_column text, up_to bigint, keys text[], images text[], of_batches integer[]
) language plpgsql set enable_seqscan = on set plan_cache_mode = auto as $$
#variable_conflict use_column
declare
  n integer;
  prepared text := '';
  table_name text;
  sql text;
  kept text;
  written bigint;
  first bigint;
  since bigint;
  latest bigint;
  too_many boolean;
begin
  perform set_config('holdfast.writing', pg_current_xact_id()::text, true);
  select last_value into first from holdfast.captured_change_seq_seq;
  if statements is not null then
    begin
      perform set_config('holdfast.at_once', pg_current_xact_id()::text, true);
      set constraints all deferred;
      select array_agg(w.key), array_agg(w.image), array_agg(w.batch) into keys, images, of_batches
        from holdfast.write_at_once(statements, batches, ids, rows) w;
      set constraints all immediate;
      perform set_config('holdfast.at_once', '', true);
      return query select c, true, null::integer, null, null, null, null, null, null::bigint,
          case when n = 1 then keys end, case when n = 1 then images end, case when n = 1 then of_batches end
        from (select c, row_number() over (order by c) as n from unnest(commits) c group by c) c order by c;
      return;
    exception when others or assert_failure then
      -- One by one.
      keys := null; images := null; of_batches := null;
    end;
  end if;
  n := 1;
  while n <= cardinality(commits) loop
    commit := commits[n];
    done := true;
    operation := null; state := null; message := null; of_constraint := null; of_table := null; of_column := null;
    begin
      set constraints all deferred;
      select last_value into since from holdfast.captured_change_seq_seq;
      while commits[n] = write_rows.commit loop
        operation := operations[n];
        if prepared is distinct from format('%s %s %s', actions[n], relations[n], columns[n]) then
          table_name := holdfast.table_name(relations[n]);
          -- From here on its columns stay as they are.
          if table_name is not null then
            execute format('lock table %s in row exclusive mode', table_name);
          end if;
          if exists (
            select from (select key_columns[n] union all select json_array_elements_text(columns[n]::json)) c(name)
              where not exists (
                select from pg_attribute a
                  where a.attrelid = relations[n] and a.attname = c.name and not a.attisdropped))
          then
            raise exception 'The table % was changed.', coalesce(table_name, '') using errcode = 'HF003';
          end if;
          sql := holdfast.write_statement(actions[n], relations[n], key_columns[n], columns[n]);
          prepared := format('%s %s %s', actions[n], relations[n], columns[n]);
        end if;
        select last_value into latest from holdfast.captured_change_seq_seq;
        execute sql into kept using array[rows[n]], array[ids[n]];
        get diagnostics written = row_count;
        -- An earlier operation may have deleted the row already, by a cascade.
        if written = 0 and actions[n] = 'delete' then
          execute format('select from %s t where t.%I = $1::%s', table_name, key_columns[n],
            holdfast.base_type(relations[n], key_columns[n])) using ids[n];
          get diagnostics written = row_count;
          if written = 0 then
            n := n + 1;
            continue;
          end if;
          written := 0;
        end if;
        -- A trigger may write something else instead: then that is what the log says.
        if written = 0 and not exists (
          select from holdfast.captured_change c
            where c.tenant = of_tenant and c.seq > latest and c.tx = pg_current_xact_id())
        then
          raise exception 'The table % did not take the write: no row was changed.', table_name using errcode = 'HF001';
        end if;
        if written > 0 and kept <> ids[n] then
          raise exception 'The table % keeps this id as "%": use that form.', table_name, kept using errcode = 'HF002';
        end if;
        n := n + 1;
      end loop;
      operation := null;
      set constraints all immediate;
      -- All of it is in the server's memory at once.
      -- A row that a nested change updated is captured twice.
      select count(*) filter (where c.after is not null or c.present is null) > 10000 or sum(c.bytes) > 32 * 2 ^ 20
        into too_many from holdfast.captured_change c
        where c.tenant = of_tenant and c.seq > since and c.tx = pg_current_xact_id();
      if too_many then
        raise exception 'The write changes more than 10000 rows or 32 MiB of attached tables: do it in SQL.'
          using errcode = 'HF004';
      end if;
    -- `others` includes neither of the two.
    exception when others or assert_failure or query_canceled then
      exit when sqlstate = '57014' and commit > commits[1];
      done := false;
      prepared := '';
      get stacked diagnostics state = returned_sqlstate, message = message_text, of_constraint = constraint_name,
        of_table = table_name, of_column = column_name;
      while commits[n] = write_rows.commit loop
        n := n + 1;
      end loop;
    end;
    select last_value into up_to from holdfast.captured_change_seq_seq;
    return next;
    exit when clock_timestamp() > statement_timestamp() + interval '1 second' or up_to > first + 5000;
  end loop;
end $$;

-- For triggers of the caller's own: raises an exception if the record of a row, or a field of it, is claimed. What Holdfast
-- writes has been checked already.
create function holdfast.assert_unclaimed(relation regclass, key text) returns void language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  found record;
begin
  if current_setting('holdfast.writing', true) = pg_current_xact_id_if_assigned()::text then
    return;
  end if;
  select a.model, c.participant, c.expires_at into found
    from holdfast.attached_table a join holdfast.claim c on c.queue = a.tenant::text || '/' || a.model || '/' || assert_unclaimed.key
    where a.relation = coalesce(pg_partition_root(assert_unclaimed.relation), assert_unclaimed.relation)
      and c.status = 'active' and c.expires_at > clock_timestamp()
    order by c.expires_at desc limit 1;
  if found.model is not null then
    raise exception using errcode = 'HF006', table = assert_unclaimed.relation::text,
      message = format('%s %s is claimed by %s until %s.', found.model, assert_unclaimed.key, found.participant,
        to_char(found.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
  end if;
end $$;

revoke all on function holdfast.lock_rows, holdfast.rows_of, holdfast.write_at_once, holdfast.write_rows from public;

-- Tenants on their way: see move-tenant.ts. Source or target are null for the service's own database.
create table holdfast.move (
  id text primary key,
  tenant integer not null unique references holdfast.tenant,
  source text references holdfast.datasource,
  target text references holdfast.datasource,
  started_at timestamptz not null default clock_timestamp(),
  last_error text
);

-- In the database that a tenant moves to: all its rows are here, and this will be its head.
create table holdfast.arrival (
  tenant integer primary key,
  head json not null
);

-- Endpoint datasources: services of the caller's that have the records of some models. See flows/sources.
create table holdfast.source (
  tenant integer not null references holdfast.tenant,
  id text not null,
  endpoint text not null,
  -- Signs the calls, encrypted. The one before signs too for a while.
  key bytea not null,
  old_key bytea,
  old_key_until timestamptz,
  key_last4 text not null,
  display_name text,
  metadata json not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  -- Up to where its events were read. Null: from the oldest.
  cursor text,
  -- Models whose records were all read, and the model and cursor where the reading goes on.
  listed text[] not null default '{}',
  listing json,
  -- Records to ask for again: a commit was on its way to them.
  again json not null default '[]',
  poll_at timestamptz not null default clock_timestamp(),
  requested_at timestamptz,
  succeeded_at timestamptz,
  -- When its events were last read to their end.
  caught_up_at timestamptz,
  failures integer not null default 0,
  last_error text,
  -- It does not accept the signature.
  rejected boolean not null default false,
  primary key (tenant, id)
);

-- Commits that wait for the answer of a source.
create table holdfast.intent (
  tenant integer not null references holdfast.tenant,
  id text not null,
  source text not null,
  -- The commit as it was judged.
  body json not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When to ask again if there is no answer until then.
  ask_at timestamptz not null,
  asks integer not null default 1,
  primary key (tenant, id)
);
create index intent_due on holdfast.intent (ask_at);

-- What they write. Nothing else writes it meanwhile.
create table holdfast.reservation (
  tenant integer not null references holdfast.tenant,
  key text not null,
  intent text not null,
  primary key (tenant, key)
);
create index reservation_of_intent on holdfast.reservation (tenant, intent);
