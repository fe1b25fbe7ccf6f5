import type { ModelSchema } from "@holdfast/sdk/protocol";
import type { Statement } from "../../../kernel/connection/statement.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { AttachedTable, Attachment, FieldColumn } from "../rules/attached-table.ts";
import type { CatalogFacts } from "../rules/catalog-facts.ts";
import type { TableRights } from "../rules/table-rights.ts";
import { identifier, literal } from "./row-text.ts";

/** One trigger for each event: a trigger with transition tables cannot have two. */
const TRIGGERS = [
  { name: "holdfast_insert", event: "after insert", rows: "referencing new table as new_rows" },
  { name: "holdfast_update", event: "after update", rows: "referencing old table as old_rows new table as new_rows" },
  { name: "holdfast_delete", event: "after delete", rows: "referencing old table as old_rows" },
  { name: "holdfast_truncate", event: "before truncate", rows: "" },
];
const NAMES = TRIGGERS.map(({ name }) => name);
const KEY_TRIGGER = "holdfast_key";

const COLUMNS = `t.tenant, t.model, t.name, t.relation::oid::bigint as relation, t.key_column as "keyColumn",
  t.copied_to as "copiedTo", t.emitted_to as "emittedTo", t.status, t.problem, t.attached_sync_id as "attachedSyncId", to_json(t.attached_at) #>> '{}' as "attachedAt",
  t.group_rules::text as "groupRules", coalesce(holdfast.table_name(t.relation), '') as "sqlName",
  coalesce(holdfast.reads_rows(t.relation), false) as readable,
  holdfast.base_type(t.relation, t.key_column) as "keyType",
  exists (select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid = t.relation and a.attname = t.key_column and i.indisunique and i.indisvalid and i.indpred is null
      and i.indnkeyatts = 1) as "keyIsUnique",
  exists (select from pg_inherits i join pg_class c on c.oid = i.inhparent
    where i.inhrelid = t.relation or i.inhparent = t.relation and c.relkind <> 'p') as "hasRelatives",
  exists (select from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = t.relation and a.attname = t.key_column
      and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%')) as "keyIsGenerated",
  exists (select from pg_trigger g where g.tgrelid in (select t.relation union all select relid from pg_partition_tree(t.relation))
    and not g.tgisinternal and g.tgname not like 'holdfast\\_%')
    or exists (select from pg_rewrite w where w.ev_class = t.relation)
    -- What a foreign key does to other rows, it does at the depth of our own statement.
    or exists (select from pg_constraint f where f.contype = 'f'
      and f.confrelid in (select t.relation union all select relid from pg_partition_tree(t.relation))
      and (f.confdeltype in ('c', 'n', 'd') or f.confupdtype in ('c', 'n', 'd'))) as "actsBeyond",
  t.missed, array(select c.oid::regclass::text from pg_class c
    where c.oid = t.relation and t.status = 'attached' and (
        select count(*) from pg_trigger g where g.tgrelid = c.oid and g.tgname = any('{${NAMES.join()}}') and g.tgenabled in ('O', 'A')) < ${NAMES.length}
      or c.oid in (select relid from pg_partition_tree(t.relation)) and t.status = 'attached' and exists (
        select from pg_trigger g where g.tgrelid = c.oid and g.tgname = any('{${NAMES.join()}}') and g.tgenabled not in ('O', 'A'))
    order by 1) as silent,
  (select coalesce(json_agg(json_build_object('field', c.field, 'name', c.name, 'declared', c.declared,
      'sqlType', format_type(a.atttypid, a.atttypmod), 'type',
      case when y.typtype = 'e' then 'enum' when y.typtype = 'd' then holdfast.base_type(t.relation, c.name)
        else coalesce(format_type(a.atttypid, a.atttypmod), '') end,
      'hasJsonCast', holdfast.has_json_cast(a.atttypid)) order by c.position), '[]')
    from holdfast.attached_column c
    left join pg_attribute a on a.attrelid = t.relation and a.attname = c.name and not a.attisdropped
    left join pg_type y on y.oid = a.atttypid
    where c.tenant = t.tenant and c.model = t.model)::text as columns`;

interface Row extends Omit<AttachedTable, "columns" | "groupRules"> {
  columns: string;
  groupRules: string;
}

const toAttachment = ({ columns, groupRules, ...rest }: Row): AttachedTable => ({
  ...rest,
  groupRules: JSON.parse(groupRules) as AttachedTable["groupRules"],
  columns: JSON.parse(columns) as AttachedTable["columns"],
});

/** The attached tables of a tenant, by model. */
export const loadAttachments = (tenant: number): Statement<AttachedTable[]> => ({
  name: "load_attachments",
  text: `select ${COLUMNS} from holdfast.attached_table t where t.tenant = $1 order by t.model`,
  values: [tenant],
  read: (rows) => (rows as Row[]).map(toAttachment),
});

/** Changes with what is stored about the attachments of a tenant; the catalog may say something else of their tables. */
export const loadAttachmentMarks = (tenant: number): Statement<string> => ({
  name: "load_attachment_marks",
  text: `select coalesce(string_agg(model || ' ' || xmin, ', ' order by model), '') as marks
    from holdfast.attached_table where tenant = $1`,
  values: [tenant],
  read: ([row]) => (row as { marks: string }).marks,
});

export async function readAttachments(db: Transaction, tenant: number): Promise<AttachedTable[]> {
  const { text, values, read } = loadAttachments(tenant);
  const { rows, command } = await db.query(text, [...values]);
  return read(rows, command);
}

/** An attached table of any tenant. */
export interface TenantsTable extends AttachedTable {
  readonly organization: string;
  readonly environment: "live" | "test";
  /** Captured changes without a log entry; if there are more than `MOST_COUNTED`, so many. */
  readonly waiting: number;
  /** The bytes of their images. */
  readonly waitingBytes: number;
  /** When the first of them was captured. ISO; null: none waits. */
  readonly waitingSince: string | null;
}

/** Counting must not take long just because much waits. */
export const MOST_COUNTED = 100_000;

export async function listAttachments(db: Transaction): Promise<TenantsTable[]> {
  const { rows } = await db.query<Row & Omit<TenantsTable, keyof AttachedTable>>(
    `select ${COLUMNS}, n.organization, case when n.livemode then 'live' else 'test' end as environment,
        w.changes as waiting, w.bytes as "waitingBytes", to_json((select c.captured_at from holdfast.captured_change c
          where c.tenant = t.tenant and c.model = t.model order by c.seq limit 1)) #>> '{}' as "waitingSince"
      from holdfast.attached_table t join holdfast.tenant n on n.id = t.tenant
      cross join lateral (select count(*)::int as changes, coalesce(sum(c.bytes), 0)::bigint as bytes from (
        select c.bytes from holdfast.captured_change c where c.tenant = t.tenant and c.model = t.model limit ${MOST_COUNTED}) c) w
      order by n.organization, n.livemode desc, t.model`,
  );
  return rows.map(({ organization, environment, waiting, waitingBytes, waitingSince, ...row }) => ({
    ...toAttachment(row),
    ...{ organization, environment, waiting, waitingBytes, waitingSince },
  }));
}

/** Whether any tenant has an attached table. */
export async function hasAttachments(db: Transaction): Promise<boolean> {
  const { rows } = await db.query({ name: "has_attachments", text: "select from holdfast.attached_table limit 1" });
  return rows.length > 0;
}

export interface NewAttachment
  extends Pick<Attachment, "tenant" | "model" | "relation" | "name" | "keyColumn" | "attachedSyncId"> {
  readonly columns: readonly FieldColumn[];
}

/** Keeps the group rules of the models that have tables. */
export async function updateGroupRules(tx: Transaction, tenant: number, models: ModelSchema["models"]): Promise<void> {
  const attached = Object.entries(models).filter(([, { table }]) => table);
  if (attached.length === 0) return;
  await tx.query(
    `update holdfast.attached_table t set group_rules = r.rules
      from unnest($2::text[], $3::json[]) as r(model, rules) where t.tenant = $1 and t.model = r.model`,
    [
      tenant,
      attached.map(([name]) => name.toLowerCase()),
      attached.map(([, { groups = [] }]) => JSON.stringify(groups)),
    ],
  );
}

export async function insertAttachment(
  tx: Transaction,
  { tenant, model, relation, name, keyColumn, columns, attachedSyncId }: NewAttachment,
): Promise<void> {
  await tx.query(
    `insert into holdfast.attached_table (tenant, model, relation, name, key_column, attached_sync_id)
      values ($1, $2, $3::oid, $4, $5, $6)`,
    [tenant, model, relation, name, keyColumn, attachedSyncId],
  );
  await insertColumns(tx, { tenant, model }, columns);
}

/**
 * Gives a table other columns than it had. Rows that the log has named count as those that it has not: what it said of
 * them had other fields.
 */
export async function replaceColumns(
  tx: Transaction,
  { tenant, model }: Pick<Attachment, "tenant" | "model">,
  columns: readonly FieldColumn[],
  syncId: number,
): Promise<void> {
  await tx.query("delete from holdfast.attached_column where tenant = $1 and model = $2", [tenant, model]);
  await insertColumns(tx, { tenant, model }, columns);
  await tx.query(
    "update holdfast.attached_table set attached_sync_id = $3, problem = null, facts = null where tenant = $1 and model = $2",
    [tenant, model, syncId],
  );
}

const insertColumns = (
  tx: Transaction,
  { tenant, model }: Pick<Attachment, "tenant" | "model">,
  columns: readonly FieldColumn[],
) =>
  tx.query(
    `insert into holdfast.attached_column (tenant, model, position, field, name, declared)
      select $1, $2, c.position, c.field, c.name, c.declared
      from unnest($3::text[], $4::text[], $5::text[]) with ordinality as c(field, name, declared, position)`,
    [
      tenant,
      model,
      columns.map(({ field }) => field),
      columns.map(({ name }) => name),
      columns.map(({ declared }) => declared),
    ],
  );

export async function updateAttachment(
  tx: Transaction,
  { tenant, model }: Pick<AttachedTable, "tenant" | "model">,
  { status, copiedTo }: Pick<AttachedTable, "status" | "copiedTo">,
): Promise<void> {
  await tx.query("update holdfast.attached_table set status = $3, copied_to = $4 where tenant = $1 and model = $2", [
    ...[tenant, model, status, copiedTo],
  ]);
}

/** How far its rows have been captured to get entries. */
export async function updateEmitted(
  tx: Transaction,
  { tenant, model }: Pick<AttachedTable, "tenant" | "model">,
  to: string,
): Promise<void> {
  await tx.query("update holdfast.attached_table set emitted_to = $3 where tenant = $1 and model = $2", [
    ...[tenant, model, to],
  ]);
}

/** Says why a table's changes cannot be recorded, or null once they can. Until then they wait, and no others do. */
export const markProblem = (tenant: number, model: string, problem: string | null): Statement<void> => ({
  name: "",
  text: "update holdfast.attached_table set problem = $3 where tenant = $1 and model = $2",
  values: [tenant, model, problem],
  read: () => {},
});

const USED_COLUMNS = `array(select name from holdfast.attached_column c where c.tenant = t.tenant and c.model = t.model) || t.key_column`;

/** What the catalog says of an attached table. */
export interface TableWithFacts extends Pick<AttachedTable, "tenant" | "model" | "name"> {
  /** When it was last looked at. Null: this is the first look. */
  readonly before: CatalogFacts | null;
  readonly now: CatalogFacts;
}

/** `tenant`: null for all. */
export async function readCatalogFacts(db: Transaction, tenant: number | null): Promise<TableWithFacts[]> {
  const { rows } = await db.query<Omit<TableWithFacts, "before" | "now"> & { before: string | null; now: string }>(
    `select tenant, model, name, facts::text as before, holdfast.catalog_facts(t.relation, ${USED_COLUMNS})::text as now
      from holdfast.attached_table t
      where t.status = 'attached' and ($1::int is null or t.tenant = $1) and exists (select from pg_class c where c.oid = t.relation)`,
    [tenant],
  );
  return rows.map(({ before, now, ...table }) => ({
    ...table,
    ...{ before: before === null ? null : JSON.parse(before), now: JSON.parse(now) },
  }));
}

export async function updateFacts(
  tx: Transaction,
  { tenant, model }: Pick<AttachedTable, "tenant" | "model">,
  facts: CatalogFacts,
  missed: string | undefined,
): Promise<void> {
  await tx.query(
    "update holdfast.attached_table set facts = $3, missed = coalesce($4, missed) where tenant = $1 and model = $2",
    [tenant, model, JSON.stringify(facts), missed ?? null],
  );
}

/** Takes what the catalog says now as known: rows and clients agree with it, or are about to. */
export async function forgetMissed(tx: Transaction, { tenant, model }: Pick<AttachedTable, "tenant" | "model">) {
  await tx.query(
    `update holdfast.attached_table t set missed = null, facts = holdfast.catalog_facts(t.relation, ${USED_COLUMNS})
      where tenant = $1 and model = $2`,
    [tenant, model],
  );
}

/** The table is as it was: its changes can be recorded again. */
export async function clearProblem(tx: Transaction, { tenant, model }: Pick<AttachedTable, "tenant" | "model">) {
  await tx.query("update holdfast.attached_table set problem = null where tenant = $1 and model = $2", [tenant, model]);
}

export async function deleteAttachment(
  tx: Transaction,
  { tenant, model }: Pick<AttachedTable, "tenant" | "model">,
): Promise<void> {
  await tx.query("delete from holdfast.captured_change where tenant = $1 and model = $2", [tenant, model]);
  await tx.query("delete from holdfast.attached_table where tenant = $1 and model = $2", [tenant, model]);
}

/**
 * Installs the triggers on the table and on its partitions: a trigger of the parent does not see what is written
 * straight to a partition. They always fire, also for a session that applies replicated changes, if we own the table;
 * without ownership Postgres does not allow that.
 */
export async function installTriggers(
  tx: Transaction,
  { tenant, model, relation, keyColumn }: Pick<AttachedTable, "tenant" | "model" | "relation" | "keyColumn">,
): Promise<void> {
  const tables = await readTableRights(tx, relation);
  const isPartitioned = tables.some((one) => one.isPartitioned);
  const to = [String(tenant), model, keyColumn, String(isPartitioned)].map(literal).join(", ");
  const key = identifier(keyColumn);
  for (const { table, owned } of tables) {
    for (const { name, event, rows } of TRIGGERS)
      await tx.query(
        `create or replace trigger ${name} ${event} on ${table} ${rows} for each statement
          execute function holdfast.capture_change(${to})`,
      );
    // Its condition is cheaper than a comparison of all rows that a statement updates.
    if (!isPartitioned)
      await tx.query(
        `create or replace trigger ${KEY_TRIGGER} after update on ${table} for each row
          when (old.${key} is distinct from new.${key}) execute function holdfast.capture_key_change()`,
      );
    if (owned)
      for (const name of isPartitioned ? NAMES : [...NAMES, KEY_TRIGGER])
        await tx.query(`alter table ${table} enable always trigger ${name}`);
  }
}

/**
 * Ends the triggers: they are replaced by ones that never fire, of a function of our own for each table. That needs the
 * privilege `trigger`; only an owner may drop a trigger. `dropEndedTriggers` needs no right on the table, and a stronger
 * lock: taken in this transaction, or for several tables at once, it would be a deadlock with a transaction that has read
 * them, and then writes. Returns the tables with triggers.
 */
export async function endTriggers(tx: Transaction, relation: number): Promise<number[]> {
  const all = (await readTableRights(tx, relation)).filter(({ triggers }) => triggers.length > 0);
  for (const { table, relation: own, owned, lacks, triggers } of all) {
    const isDropped = owned && lacks.includes("trigger");
    if (!isDropped)
      await tx.query(
        `create or replace function ${endedBy(own)} returns trigger language plpgsql as $$ begin return null; end $$`,
      );
    for (const name of triggers)
      await tx.query(
        isDropped
          ? `drop trigger if exists ${name} on ${table}`
          : `create or replace trigger ${name} after update on ${table}
              for each statement when (false) execute function ${endedBy(own)}`,
      );
  }
  return all.map((one) => one.relation);
}

/** Drops a table's triggers with the function that they belong to. */
export async function dropEndedTriggers(tx: Transaction, relation: number): Promise<void> {
  await tx.query(`drop function if exists ${endedBy(relation)} cascade`);
}

const endedBy = (relation: number): string => `holdfast.ended_${relation}()`;

/** Row level security fails no statement: a policy must show our role all rows, and none take some away. */
const HIDES_ROWS = `row_security_active(c.oid) and not coalesce((
  select bool_or(polpermissive and pg_get_expr(polqual, polrelid) = 'true') and bool_and(polpermissive)
    from pg_policy where polrelid = c.oid and polcmd in ('r', '*')
      and exists (select from unnest(polroles) r where case r when 0 then true else pg_has_role(r, 'usage') end)
  ), false)`;

/** What our role may do with the table itself and its partitions. Empty if the table was dropped. */
export async function readTableRights(db: Transaction, relation: number): Promise<TableRights[]> {
  const { rows } = await db.query<TableRights>(
    `select format('%I', current_user) as role, format('%I', n.nspname) as schema,
        format('%I.%I', n.nspname, c.relname) as table, c.oid::bigint as relation, c.oid = $1::oid as "isRoot",
        c.relkind = 'p' as "isPartitioned", pg_has_role(c.relowner, 'usage') as owned,
        ${HIDES_ROWS} as "hidesRows",
        array(select t.tgname::text from pg_trigger t where t.tgrelid = c.oid and t.tgname = any($2::text[])
          order by t.tgname) as triggers,
        array(select p from unnest('{usage,select,insert,update,delete,trigger}'::text[]) p
          where not case p when 'usage' then has_schema_privilege(n.oid, p) else has_table_privilege(c.oid, p) end) as lacks
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.oid = $1::oid or c.oid in (select relid from pg_partition_tree($1::oid::regclass))
      order by c.oid = $1::oid desc, c.oid`,
    [relation, [...NAMES, KEY_TRIGGER]],
  );
  return rows;
}
