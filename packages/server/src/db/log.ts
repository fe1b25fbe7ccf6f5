import type { ParticipantKind, Verb } from "@holdfast/sdk/protocol";
import { participantName } from "../rules/participant.ts";
import type { Author } from "../rules/world-state.ts";
import type { Statement } from "./statement.ts";
import type { Transaction } from "./transaction.ts";

/** A stored line of the log; `data` and `changedFields` are the text that was stored. */
export interface StoredEntry {
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  readonly verb: Verb;
  readonly data: string | null;
  readonly changedFields: string | null;
  readonly groups: readonly string[];
  readonly groupsBefore: readonly string[] | null;
  readonly clientTxId: string;
  readonly clientId: string | null;
  readonly transactionId: string | null;
  readonly actor: string;
  readonly participantKind: ParticipantKind;
  readonly claim: string | null;
  readonly createdAt: string;
}

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
  text: "select sync_id, model, id, actor, participant_kind from holdfast.log where world = $1 and sync_id = any($2::bigint[])",
  values: [world, positions],
  read: (rows) =>
    new Map(
      (rows as { sync_id: number; model: string; id: string; actor: string; participant_kind: ParticipantKind }[]).map(
        (row) => [
          row.sync_id,
          { model: row.model, id: row.id, writtenBy: participantName(row.participant_kind, row.actor) },
        ],
      ),
    ),
});

/** A stored line as the protocol's entry, in JSON text. */
export function storedEntryText(entry: StoredEntry, declaredName: string): string {
  const head = JSON.stringify({
    object: "log_entry",
    syncId: entry.syncId,
    model: declaredName,
    id: entry.id,
    verb: entry.verb,
  });
  const tail = JSON.stringify({
    clientTxId: entry.clientTxId,
    clientId: entry.clientId,
    transactionId: entry.transactionId,
    actor: entry.actor,
    participantKind: entry.participantKind,
    claim: entry.claim,
    createdAt: entry.createdAt,
  });
  return `${head.slice(0, -1)},"data":${entry.data ?? "null"},"changedFields":${entry.changedFields ?? "null"},${tail.slice(1)}`;
}
