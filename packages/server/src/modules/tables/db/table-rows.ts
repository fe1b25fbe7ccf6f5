import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { AttachedTable } from "../rules/attached-table.ts";
import type { CapturedImage } from "../rules/row-image.ts";
import { identifier, imageOf, pinText } from "./row-text.ts";

/** An attached table as the catalog has it now. */
export interface FoundTable {
  /** Its SQL name. */
  readonly name: string;
  /** The SQL type of its key. */
  readonly keyType: string;
}

/** Undefined if the table or its key column is gone. */
export async function findTable(
  db: Transaction,
  { relation, keyColumn }: Pick<AttachedTable, "relation" | "keyColumn">,
): Promise<FoundTable | undefined> {
  const { rows } = await db.query<FoundTable>(
    `select format('%I.%I', n.nspname, c.relname) as name, case when y.typnamespace = 'pg_catalog'::regnamespace then format_type(a.atttypid, a.atttypmod)
          else format('%I.%I', m.nspname, y.typname) end as "keyType"
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attname = $2 and not a.attisdropped
      join pg_type y on y.oid = a.atttypid join pg_namespace m on m.oid = y.typnamespace
      where c.oid = $1::oid`,
    [relation, keyColumn],
  );
  return rows[0];
}

type Captured = Pick<AttachedTable, "tenant" | "model" | "relation" | "keyColumn">;

/** The SQL of the image of a row `r`: the same as is captured of it. */
export async function readImageSql(db: Transaction, { tenant, model, relation, keyColumn }: Captured): Promise<string> {
  const { rows } = await db.query<{ image: string }>("select holdfast.image_sql($1::oid, $2, $3, $4, true) as image", [
    relation,
    tenant,
    model,
    keyColumn,
  ]);
  return rows[0]?.image ?? "null";
}

/** A page of rows has so many bytes of JSON at most, by `holdfast.size_sql`, unless a single row has more. */
const PAGE_BYTES = 2 ** 25;

/** Rows in the order of the key, after a key, with the same values as captured ones; at least one, if there is one. */
export async function readTableRows(
  tx: Transaction,
  attached: Captured,
  { name, keyType }: FoundTable,
  after: string | null,
  most: number,
): Promise<CapturedImage[]> {
  await pinText(tx);
  const key = identifier(attached.keyColumn);
  const image = await readImageSql(tx, attached);
  const size = await tx.query<{ sql: string | null }>("select holdfast.size_sql($1::oid) as sql", [attached.relation]);
  const { rows } = await tx.query<{ image: string }>(
    `select ${image} as image from ${name} r where r.${key} = any(array(
        select key from (
          select key, row_number() over w as n, sum(size) over w as bytes from (
            select r.${key} as key, ${size.rows[0]?.sql ?? "0"} as size from ${name} r
              where $1::text is null or r.${key} > $1::${keyType} order by r.${key} limit $2) r window w as (order by key)) r
          where n = 1 or bytes <= ${PAGE_BYTES})) order by r.${key}`,
    [after, most],
  );
  return rows.map((row) => imageOf(row.image));
}

/** About how many rows the table has, as the planner knows. */
export async function estimateRows(db: Transaction, relation: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select greatest(sum(c.reltuples), 0)::bigint as count from pg_class c
      where c.oid = $1::oid or c.oid in (select relid from pg_partition_tree($1::oid::regclass) where isleaf)`,
    [relation],
  );
  return rows[0]?.count ?? 0;
}
