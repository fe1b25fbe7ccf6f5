import type { AttachedTable } from "../../rules/tables/attached-table.ts";
import type { ParsedRow } from "../../rules/tables/row-image.ts";
import type { Transaction } from "../connection/transaction.ts";
import { identifier, parseRow, pinText } from "./row-text.ts";

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

/** Rows in the order of the key, after a key, with the same values as captured ones. */
export async function readTableRows(
  tx: Transaction,
  { keyColumn }: Pick<AttachedTable, "keyColumn">,
  { name, keyType }: FoundTable,
  after: string | null,
  most: number,
): Promise<ParsedRow[]> {
  await pinText(tx);
  const key = identifier(keyColumn);
  const { rows } = await tx.query<{ image: string }>(
    `select row_to_json(r.*) as image from ${name} r
      where $1::text is null or r.${key} > $1::${keyType} order by r.${key} limit $2`,
    [after, most],
  );
  return rows.map(({ image }) => parseRow(image));
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
