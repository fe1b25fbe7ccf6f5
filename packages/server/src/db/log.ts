import type { StoredEntry } from "../rules/entry-text.ts";
import type { Author } from "../rules/world-state.ts";
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
