import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { AttachedTable } from "../rules/attached-table.ts";
import { identifier, pinText } from "./row-text.ts";
import { type FoundTable, readImageSql } from "./table-rows.ts";

type Attached = Pick<AttachedTable, "tenant" | "model" | "relation" | "keyColumn">;

/**
 * Captures rows as they are now, as if they had just been inserted, or updated: what they were is not known. Their locks order this with the caller's own writes
 * of the same rows.
 */
export async function captureRows(
  tx: Transaction,
  attached: Attached,
  { name, keyType }: FoundTable,
  ids: readonly string[],
  as: "inserted" | "updated",
): Promise<void> {
  const { tenant, model, keyColumn } = attached;
  await pinText(tx);
  const key = identifier(keyColumn);
  const image = await readImageSql(tx, attached);
  await tx.query(
    `insert into holdfast.captured_change (tenant, model, key, before, after, bytes)
      select $1, $2, r.key, r.before, r.after, octet_length(r.after::text) from (
        select r.${key}::text as key, case when $4 then json_build_object($5::text, r.${key}) end as before, ${image} as after
          from (select * from ${name} where ${key} = any($3::text[]::${keyType}[]) order by ${key} for no key update) r
          offset 0) r`,
    [tenant, model, ids, as === "updated", keyColumn],
  );
}

/** Captures the deletion of rows that are not there. No row can be locked, so writers of the table wait for a moment. */
export async function captureDeletions(
  tx: Transaction,
  { tenant, model, keyColumn }: Attached,
  { name, keyType }: FoundTable,
  ids: readonly string[],
): Promise<void> {
  await tx.query(`lock table ${name} in share mode`);
  await tx.query(
    `insert into holdfast.captured_change (tenant, model, key, before, bytes)
      select $1, $2, i.id, json_build_object($4::text, i.id), octet_length(i.id) from unnest($3::text[]) as i(id)
      where not exists (select from ${name} r where r.${identifier(keyColumn)} = i.id::${keyType})`,
    [tenant, model, ids, keyColumn],
  );
}

/** What was looked for in a page of ids. */
export interface IdPage {
  readonly ids: readonly string[];
  /** How many the page has. */
  readonly count: number;
  /** Its last one; undefined if it is empty. */
  readonly last: string | undefined;
}

/** Of a page of rows, after a key: the ids of those that the log has not named. */
export async function readIdsWithoutLine(
  db: Transaction,
  { tenant, model, keyColumn }: Attached,
  { name, keyType }: FoundTable,
  after: string | null,
  most: number,
): Promise<IdPage> {
  const key = identifier(keyColumn);
  const { rows } = await db.query<{ id: string }>(
    `select t.${key}::text as id from ${name} t
      where $1::text is null or t.${key} > $1::${keyType} order by t.${key} limit $2`,
    [after, most],
  );
  const page = rows.map(({ id }) => id);
  const named = await db.query<{ id: string }>(
    "select id from holdfast.record where tenant = $1 and model = $2 and id = any($3)",
    [tenant, model, page],
  );
  const known = new Set(named.rows.map(({ id }) => id));
  return { ids: page.filter((id) => !known.has(id)), count: page.length, last: page.at(-1) };
}

/** Of a page of records' ids, after an id: those that have no row. */
export async function readIdsWithoutRow(
  db: Transaction,
  { tenant, model, keyColumn }: Attached,
  { name, keyType }: FoundTable,
  after: string | null,
  most: number,
): Promise<IdPage> {
  const { rows } = await db.query<{ id: string }>(
    `select id from holdfast.record where tenant = $1 and model = $2 and ($3::text is null or id > $3) order by id limit $4`,
    [tenant, model, after, most],
  );
  const page = rows.map(({ id }) => id);
  const key = identifier(keyColumn);
  const found = await db.query<{ id: string }>(
    `select t.${key}::text as id from ${name} t where t.${key} = any($1::text[]::${keyType}[])`,
    [page],
  );
  const present = new Set(found.rows.map(({ id }) => id));
  return { ids: page.filter((id) => !present.has(id)), count: page.length, last: page.at(-1) };
}
