import { RECORD_COLUMNS } from "../../../kernel/commits/db/records.ts";
import { IS_UNREADABLE } from "../../../kernel/commits/db/unreadable-data.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { RecordRelation } from "../../../kernel/lists/db/record-relation.ts";
import { LONGEST_KEY } from "../../../kernel/lists/db/record-relation.ts";
import type { AttachedTable } from "../rules/attached-table.ts";

interface OfModel {
  readonly tenant: number;
  readonly model: string;
}

/**
 * Copies the values of some rows to their records, in the order of the key, after a key. Returns how many, and the last
 * one's key: null if there were none.
 */
export async function copySomeValues(
  tx: Transaction,
  { from, idOrder: { expression, type } }: RecordRelation,
  after: string | null,
  most: number,
): Promise<CopiedPage> {
  // Each row is one probe of its line. The statistics know nothing yet of the lines that the steps before have written.
  await tx.query(`set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off;
    set local enable_material = off`);
  const { rows } = await tx.query<CopiedPage & Record<string, unknown>>(
    `with page as (select ${RECORD_COLUMNS}, ${expression} as place from ${from} r
        where $1::text is null or ${expression} > $1::text::${type} order by ${expression} limit $2),
      copied as (insert into holdfast.record (${RECORD_COLUMNS}) select ${RECORD_COLUMNS} from page where char_length(id) <= ${LONGEST_KEY} and not (${IS_UNREADABLE})
        on conflict (tenant, model, id) do update set data = excluded.data, groups = excluded.groups, archived_at = excluded.archived_at)
      select count(*)::int as count, (select place::text from page order by place desc limit 1) as last,
        count(*) filter (where ${IS_UNREADABLE})::int as "leftOut" from page`,
    [after, most],
  );
  return rows[0] ?? { ...NOTHING, leftOut: 0 };
}

interface CopiedPage extends Page {
  /** How many are larger than can be read. */
  readonly leftOut: number;
}

interface Page {
  readonly count: number;
  readonly last: string | null;
}
const NOTHING: Page = { count: 0, last: null };

/** Deletes the records of a model to which no values came: their rows are gone. */
export async function deleteRecordsWithoutValues(tx: Transaction, { tenant, model }: OfModel): Promise<void> {
  await tx.query("delete from holdfast.record where tenant = $1 and model = $2 and data is null", [tenant, model]);
}

/** What the log said last of some records since the table was attached as it is, as far as it has not been trimmed. */
export async function readLastValues(
  db: Transaction,
  { tenant, model, attachedSyncId }: OfModel & Pick<AttachedTable, "attachedSyncId">,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly data: string; readonly archived: boolean }[]> {
  const { rows } = await db.query<{ id: string; data: string; archived: boolean }>(
    `select r.id, l.data, r.archived_at is not null as archived from holdfast.record r join holdfast.log l on l.tenant = r.tenant and l.sync_id = r.sync_id
      where r.tenant = $1 and r.model = $2 and r.id = any($3) and r.sync_id > $4
        and l.model = r.model and l.id = r.id and l.data is not null`,
    [tenant, model, ids, attachedSyncId],
  );
  return rows;
}

/** Deletes some records of a model, after an id. Returns how many, and the last one's id: null if there were none. */
export async function deleteSomeRecords(
  tx: Transaction,
  { tenant, model }: OfModel,
  after: string | null,
  most: number,
): Promise<Page> {
  const { rows } = await tx.query<Page>(
    `with page as (select id from holdfast.record
          where tenant = $1 and model = $2 and ($3::text is null or id > $3) order by id limit $4),
        gone as (delete from holdfast.record r using page where r.tenant = $1 and r.model = $2 and r.id = page.id)
      select count(*)::int as count, max(id) as last from page`,
    [tenant, model, after, most],
  );
  return rows[0] ?? NOTHING;
}

/** Deletes all records of a model. */
export async function deleteRecordsOf(tx: Transaction, { tenant, model }: OfModel): Promise<void> {
  await tx.query("delete from holdfast.record where tenant = $1 and model = $2", [tenant, model]);
}
