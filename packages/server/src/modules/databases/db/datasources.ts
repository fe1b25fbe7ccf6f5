import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { UsedDatabase } from "../../../kernel/tenant-data.ts";
import type { OwnDatasource } from "../rules/present-datasource.ts";

/** A database beside the service's own. */
export interface StoredDatasource extends Omit<OwnDatasource, "livemode" | "moving" | "moveProblem"> {
  /** Whose it is. Null: the operator's. */
  readonly tenant: number | null;
  /** The connection string, encrypted for this id. */
  readonly connection: Buffer;
}

const COLUMNS = `d.id, d.tenant, d.connection, d.host, d.database, d.schema, d.display_name as "displayName", d.metadata::jsonb as metadata, d.created_at as "createdAt"`;

export async function insertDatasource(tx: Transaction, one: Omit<StoredDatasource, "createdAt">): Promise<void> {
  await tx.query(
    `insert into holdfast.datasource (id, tenant, connection, host, database, schema, display_name, metadata)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      one.id,
      one.tenant,
      one.connection,
      one.host,
      one.database,
      one.schema,
      one.displayName,
      JSON.stringify(one.metadata),
    ],
  );
}

export async function readDatasource(db: Transaction, id: string): Promise<StoredDatasource | undefined> {
  const { rows } = await db.query<StoredDatasource>(`select ${COLUMNS} from holdfast.datasource d where d.id = $1`, [
    id,
  ]);
  return rows[0];
}

/** A tenant's own datasource, and whether it is on its way. */
export interface TenantDatasource extends StoredDatasource, OwnDatasource {
  readonly tenant: number;
}

/** The datasources that an organization has registered, oldest first. */
export async function listDatasources(db: Transaction, organization: string): Promise<TenantDatasource[]> {
  const { rows } = await db.query<TenantDatasource>(
    `select ${COLUMNS}, t.livemode, m.id is not null as moving, m.last_error as "moveProblem"
     from holdfast.datasource d join holdfast.tenant t on t.id = d.tenant left join holdfast.move m on m.tenant = t.id
     where t.organization = $1 order by d.created_at, d.id`,
    [organization],
  );
  return rows;
}

export async function listUsedDatabases(db: Transaction): Promise<UsedDatabase[]> {
  const { rows } = await db.query<UsedDatabase & Record<string, unknown>>(
    `select d.id, case when d.tenant is null then d.display_name end as name, encode(sha256(d.connection), 'hex') as address, (select t.id from holdfast.tenant t where t.id = d.tenant and t.home = d.id
         and not exists (select from holdfast.move m where m.tenant = t.id)) as "onlyTenant"
     from holdfast.datasource d where exists (select from holdfast.tenant t where t.home = d.id)
       or exists (select from holdfast.move m where m.target = d.id)`,
  );
  return rows;
}

export async function replaceConnection(
  tx: Transaction,
  { id, connection, host, database }: Pick<StoredDatasource, "id" | "connection" | "host" | "database">,
): Promise<void> {
  await tx.query("update holdfast.datasource set connection = $2, host = $3, database = $4 where id = $1", [
    id,
    connection,
    host,
    database,
  ]);
}

/** Datasources whose connection strings an older master key has encrypted. */
export async function listStaleConnections(db: Transaction, keyName: Buffer): Promise<StoredDatasource[]> {
  const { rows } = await db.query<StoredDatasource>(
    `select ${COLUMNS} from holdfast.datasource d where substring(d.connection for ${keyName.length}) <> $1`,
    [keyName],
  );
  return rows;
}

/** Those of tenants and of the operator. */
export async function listAllDatasources(db: Transaction): Promise<StoredDatasource[]> {
  return (await db.query<StoredDatasource>(`select ${COLUMNS} from holdfast.datasource d order by d.created_at, d.id`))
    .rows;
}

/** One change of a tenant's datasource at a time. Rows that a move copies keep their tenant from being deleted: those locks stay out of the way. */
export async function lockTenant(tx: Transaction, tenant: number): Promise<void> {
  await tx.query("select from holdfast.tenant where id = $1 for no key update", [tenant]);
}

/** A database that the operator added. */
export interface OperatorDatabase {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly database: string;
  /** How many tenants live there. */
  readonly tenants: number;
}

const OPERATORS = `select d.id, d.display_name as name, d.host, d.database,
  (select count(*)::int from holdfast.tenant t where t.home = d.id) as tenants from holdfast.datasource d where d.tenant is null`;

export async function listOperatorDatabases(db: Transaction): Promise<OperatorDatabase[]> {
  return (await db.query<OperatorDatabase & Record<string, unknown>>(`${OPERATORS} order by d.display_name`)).rows;
}

export async function findOperatorDatabase(db: Transaction, name: string): Promise<OperatorDatabase | undefined> {
  const { rows } = await db.query<OperatorDatabase & Record<string, unknown>>(`${OPERATORS} and d.display_name = $1`, [
    name,
  ]);
  return rows[0];
}

/** Those that live there, and those on their way there. */
export async function listTenantsIn(db: Transaction, id: string): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select t.id from holdfast.tenant t where t.home = $1 or exists (select from holdfast.move m where m.tenant = t.id and m.target = $1)
     order by t.id`,
    [id],
  );
  return rows.map(({ id }) => id);
}

export async function listTenantsNowIn(db: Transaction, id: string): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>("select id from holdfast.tenant where home = $1 order by id", [id]);
  return rows.map(({ id }) => id);
}

export async function countOwnTenants(db: Transaction): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from holdfast.tenant where home is null",
  );
  return rows[0]?.count ?? 0;
}

/** Where a tenant lives. */
export async function readDatabaseOf(db: Transaction, tenant: number): Promise<string | null> {
  const { rows } = await db.query<{ home: string | null }>("select home from holdfast.tenant where id = $1", [tenant]);
  return rows[0]?.home ?? null;
}

/** Returns false if tenants live there, or are on their way there. */
export async function deleteDatasource(db: Transaction, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from holdfast.datasource d where d.id = $1 and not exists (select from holdfast.tenant t where t.home = d.id)
       and not exists (select from holdfast.move m where d.id in (m.source, m.target))`,
    [id],
  );
  return rowCount === 1;
}

/**
 * The database of the operator's with the fewest tenants, of those that take new ones; null: the service's own. A tenant
 * on its way counts where it goes, and those of one organization do not.
 */
export async function findEmptiest(tx: Transaction, without: string): Promise<string | null> {
  const { rows } = await tx.query<{ id: string | null }>(
    `with place as (
       select case when m.id is null then t.home else m.target end as id
       from holdfast.tenant t left join holdfast.move m on m.tenant = t.id where t.organization <> $1)
     select d.id from (select null as id union all select id from holdfast.datasource where tenant is null and takes_new) d
     order by (select count(*) from place p where p.id is not distinct from d.id), d.id nulls first limit 1`,
    [without],
  );
  return rows[0]?.id ?? null;
}

/** From now on new organizations are placed elsewhere. */
export async function closeToNew(db: Transaction, id: string): Promise<void> {
  await db.query("update holdfast.datasource set takes_new = false where id = $1", [id]);
}
