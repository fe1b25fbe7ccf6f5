import type { Transaction } from "../connection/transaction.ts";

/** A record that is read from a row, not from a commit. */
export interface ReadRecord {
  readonly id: string;
  /** JSON. */
  readonly data: string;
  readonly groups: readonly string[];
}

/**
 * Stores records of rows that were there before the table was attached, at the log's end. One that exists came from a
 * later change, so it stays.
 */
export async function insertReadRecords(
  tx: Transaction,
  { tenant, model, syncId, writtenBy }: { tenant: number; model: string; syncId: number; writtenBy: string },
  records: readonly ReadRecord[],
): Promise<void> {
  await tx.query(
    `insert into holdfast.record
        (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
      select $1, $2, r.id, $3, r.data, array(select json_array_elements_text(r.groups)), $3, $4, now(), now(), $4
      from unnest($5::text[], $6::json[], $7::json[]) as r(id, data, groups)
      on conflict do nothing`,
    [
      ...[tenant, model, syncId, writtenBy],
      records.map(({ id }) => id),
      records.map(({ data }) => data),
      records.map(({ groups }) => JSON.stringify(groups)),
    ],
  );
}

export async function deleteAllRecords(tx: Transaction, tenant: number, model: string): Promise<void> {
  await tx.query("delete from holdfast.record where tenant = $1 and model = $2", [tenant, model]);
}
