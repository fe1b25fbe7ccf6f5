import { recordEntries } from "../../commits/db/record-entries.ts";
import type { RecordName } from "../../commits/db/records.ts";
import type { StoredEntry } from "../../commits/rules/stored-entry.ts";
import type { Author } from "../../commits/rules/tenant-state.ts";
import type { Statement } from "../../connection/statement.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { withinBytes } from "./within-bytes.ts";

export const ENTRY_COLUMNS = `sync_id as "syncId", model, id, verb, data, changed_fields as "changedFields", groups, groups_before as "groupsBefore",
  client_tx_id as "clientTxId", client_id as "clientId", transaction_id as "transactionId", actor, participant_kind as "participantKind",
  claim, archived_at as "archivedAt", record_created_at as "recordCreatedAt", record_created_by as "recordCreatedBy",
  attribution, created_at as "createdAt"`;

/** Estimated size of a presented entry besides its data: names, which JSON may have to escape, and keys. */
const NAMES = `400 + 2 * (octet_length(model) + octet_length(id) + octet_length(client_tx_id) + octet_length(actor)
  + coalesce(octet_length(client_id), 0) + coalesce(octet_length(transaction_id), 0)) + pg_column_size(groups) + coalesce(pg_column_size(groups_before), 0)`;
const SIZED = { json: ["data", "changed_fields", "attribution"], rest: NAMES };

/**
 * Entries in (after, to], in order, up to a number of bytes but at least one. If none is returned, or the first one
 * does not directly follow `after`, entries were trimmed.
 */
export async function readLog(
  db: Transaction,
  tenant: number,
  { after, to, bytes }: { after: number; to: number; bytes: number },
): Promise<StoredEntry[]> {
  const { rows } = await db.query<StoredEntry & Record<string, unknown>>({
    name: "read_log",
    text: `select ${ENTRY_COLUMNS} from (${withinBytes({
      ...SIZED,
      rows: "select * from holdfast.log where tenant = $1 and sync_id > $2 and sync_id <= $3",
      order: "sync_id",
      bytes: "$4::bigint",
    })}) l where fits order by sync_id`,
    values: [tenant, after, to, bytes],
  });
  return rows;
}

export interface RecordHistoryQuestion extends RecordName {
  /** Only entries of these groups, before or after the change. Undefined: all. */
  readonly groups: readonly string[] | undefined;
  /** Only entries beyond this position. Undefined: from the beginning. */
  readonly after: number | undefined;
  readonly descending: boolean;
  readonly limit: number;
  readonly bytes: number;
}

export interface RecordHistory {
  /** Limited in bytes, but at least one. */
  readonly entries: readonly StoredEntry[];
  readonly hasMore: boolean;
}

/** The log entries of one record, oldest or newest first. */
export async function readRecordHistory(
  db: Transaction,
  { tenant, model, id, groups, after, descending, limit, bytes }: RecordHistoryQuestion,
): Promise<RecordHistory> {
  const order = descending ? "desc" : "asc";
  const lines = recordEntries({
    ...{ tenant: "$1", model: "$2", id: "$3", order, limit: "$6" },
    within: (position) => `${position} ${descending ? "<" : ">"} $4`,
    filter: "($5::text[] is null or l.groups && $5 or l.groups_before && $5)",
  });
  // Entries beyond the byte limit are omitted; `hasMore` reports that there are some.
  const { rows } = await db.query<StoredEntry & { fits: boolean }>({
    name: `read_record_history_${order}`,
    text: `select ${ENTRY_COLUMNS.replace("data,", "case when fits then data end as data,")}, fits from (
        ${withinBytes({ ...SIZED, rows: lines, order: `sync_id ${order}`, bytes: "$7::bigint" })}
      ) l order by sync_id ${order}`,
    values: [tenant, model, id, after ?? (descending ? Number.MAX_SAFE_INTEGER : 0), groups ?? null, limit + 1, bytes],
  });
  const entries = rows.filter(({ fits }) => fits).slice(0, limit);
  return { entries, hasMore: rows.length > entries.length };
}

/** The author and record of the entries at these positions. */
export const loadAuthors = (tenant: number, positions: readonly number[]): Statement<ReadonlyMap<number, Author>> => ({
  name: "load_authors",
  text: `select sync_id, model, id, participant_kind || ':' || actor as "writtenBy" from holdfast.log where tenant = $1 and sync_id = any($2::bigint[])`,
  values: [tenant, positions],
  read: (rows) =>
    new Map(
      (rows as (Author & { sync_id: number })[]).map(({ sync_id, model, id, writtenBy }) => [
        sync_id,
        { model, id, writtenBy },
      ]),
    ),
});
