import type { StoredEntry } from "../rules/entry-text.ts";
import type { Author } from "../rules/world-state.ts";
import { recordLines } from "./record-lines.ts";
import type { RecordName } from "./records.ts";
import type { Statement } from "./statement.ts";
import type { Transaction } from "./transaction.ts";

const COLUMNS = `sync_id as "syncId", model, id, verb, data, changed_fields as "changedFields", groups, groups_before as "groupsBefore",
  client_tx_id as "clientTxId", client_id as "clientId", transaction_id as "transactionId", actor, participant_kind as "participantKind",
  claim, created_at as "createdAt"`;

/** Lines in (after, to], in order. */
export async function readLog(db: Transaction, world: number, after: number, to: number): Promise<StoredEntry[]> {
  const { rows } = await db.query<StoredEntry & Record<string, unknown>>({
    name: "read_log",
    text: `select ${COLUMNS} from holdfast.log where world = $1 and sync_id > $2 and sync_id <= $3 order by sync_id`,
    values: [world, after, to],
  });
  return rows;
}

/** As many of the lines in (after, to] as have so many bytes together, as stored, and one at least. */
export async function readLogWithin(
  db: Transaction,
  world: number,
  { after, to, bytes }: { after: number; to: number; bytes: number },
): Promise<StoredEntry[]> {
  const { rows } = await db.query<StoredEntry & Record<string, unknown>>({
    name: "read_log_within",
    text: `select ${COLUMNS} from (
        select l.*, sum(coalesce(pg_column_size(data), 0)) over (order by sync_id rows between unbounded preceding and 1 preceding) as before
        from holdfast.log l where world = $1 and sync_id > $2 and sync_id <= $3
      ) l where coalesce(before, 0) < $4 order by sync_id`,
    values: [world, after, to, bytes],
  });
  return rows;
}

export interface RecordHistoryQuestion extends RecordName {
  /** Lines of one of these groups, before or after; undefined: all. */
  readonly groups: readonly string[] | undefined;
  /** Beyond this position; undefined: from the beginning. */
  readonly after: number | undefined;
  readonly descending: boolean;
  readonly limit: number;
}

/** The lines of one record, oldest or newest first. */
export async function readRecordHistory(
  db: Transaction,
  { world, model, id, groups, after, descending, limit }: RecordHistoryQuestion,
): Promise<StoredEntry[]> {
  const order = descending ? "desc" : "asc";
  const { rows } = await db.query<StoredEntry & Record<string, unknown>>({
    name: `read_record_history_${order}`,
    text: `select ${COLUMNS} from (${recordLines({
      ...{ world: "$1", model: "$2", id: "$3", order, limit: "$6" },
      within: (position) => `${position} ${descending ? "<" : ">"} $4`,
      filter: "($5::text[] is null or l.groups && $5 or l.groups_before && $5)",
    })}) l`,
    values: [world, model, id, after ?? (descending ? Number.MAX_SAFE_INTEGER : 0), groups ?? null, limit],
  });
  return rows;
}

/** Who wrote the lines at these positions, and to which record. */
export const loadAuthors = (world: number, positions: readonly number[]): Statement<ReadonlyMap<number, Author>> => ({
  name: "load_authors",
  text: `select sync_id, model, id, participant_kind || ':' || actor as "writtenBy" from holdfast.log where world = $1 and sync_id = any($2::bigint[])`,
  values: [world, positions],
  read: (rows) =>
    new Map(
      (rows as (Author & { sync_id: number })[]).map(({ sync_id, model, id, writtenBy }) => [
        sync_id,
        { model, id, writtenBy },
      ]),
    ),
});
