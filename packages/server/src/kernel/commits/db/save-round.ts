import type { JsonObject } from "@holdfast/sdk/protocol";
import type { Statement } from "../../connection/statement.ts";
import type { StoredEntry } from "../rules/stored-entry.ts";
import type { NewReceipt, RecordState } from "../rules/tenant-state.ts";
import { receiptKey } from "./receipts.ts";
import { RECORD_COLUMNS } from "./records.ts";
import { rowColumns } from "./row-columns.ts";

/** An entry to append. */
export interface SavedEntry {
  readonly tenant: number;
  readonly entry: StoredEntry;
  /** Position of the entry that created its record. */
  readonly createdSyncId: number;
  /** Of an update or a delete: the record's values before it; null if there was no record. Undefined: they are not known. */
  readonly dataBefore: JsonObject | null | undefined;
  /** The record after it. */
  readonly after: RecordState | null;
  /** Whether the record's values are kept beside the log: those of attached tables are in their rows alone. */
  readonly keepsValues: boolean;
  /** What the round does to the record's row. Only the record's last entry in the round has a value here. */
  readonly row: "inserted" | "updated" | "deleted" | null;
}

export interface SavedReceipt extends NewReceipt {
  readonly tenant: number;
}

export interface SavedHead {
  readonly tenant: number;
  readonly syncId: number;
  readonly writer: string | null;
  readonly otherSyncId: number;
  readonly now: string;
}

/** A group's newest positions within the round; `otherSyncId` is 0 if the round had only one writer. */
export interface SavedGroup {
  readonly tenant: number;
  readonly name: string;
  readonly syncId: number;
  readonly writer: string | null;
  readonly otherSyncId: number;
}

export interface Round {
  readonly entries: readonly SavedEntry[];
  readonly receipts: readonly SavedReceipt[];
  readonly heads: readonly SavedHead[];
  readonly groups: readonly SavedGroup[];
  readonly now: string;
}

/**
 * Writes everything of a round in one statement and sends each payload once. The round holds the locks of its tenants'
 * heads, so it knows which rows exist: new rows are plain inserts, which cost less than upserts. Values hidden beside a
 * row stay with their record; a record that is deleted and created again in the same round is a new one.
 * `deleteRecords` removes deleted rows.
 */
export const saveRound = (round: Round): Statement<void> => ({
  name: "save_round",
  text: SAVE,
  values: [...roundValues(round), ...FURTHER.values(round.entries)],
  read: () => {},
});

/**
 * The parameters that every statement to save a round starts with; `HEADS`, `ENTRIES` and the SQL below refer to them.
 */
export const roundValues = ({ entries, receipts, heads, groups, now }: Round): readonly unknown[] => [
  now,
  ...RECEIPTS.values(receipts),
  ...GROUPS.values(groups),
  ...HEADS.values(heads),
  ...ENTRIES.values(entries),
];

const RECEIPTS = rowColumns<SavedReceipt>(2, [
  ["tenant", "bigint", ({ tenant }) => tenant],
  ["key", "text", receiptKey],
  ["fingerprint", "bytea", ({ fingerprint }) => fingerprint],
  ["body", "json", ({ kept }) => kept],
  ["held", "boolean", ({ conflicted }) => conflicted],
]);

const GROUPS = rowColumns<SavedGroup>(RECEIPTS.next, [
  ["tenant", "bigint", ({ tenant }) => tenant],
  ["name", "text", ({ name }) => name],
  ["sync_id", "bigint", ({ syncId }) => syncId],
  ["writer", "text", ({ writer }) => writer],
  ["other_sync_id", "bigint", ({ otherSyncId }) => otherSyncId],
]);

export const HEADS = rowColumns<SavedHead>(GROUPS.next, [
  ["tenant", "bigint", ({ tenant }) => tenant],
  ["sync_id", "bigint", ({ syncId }) => syncId],
  ["writer", "text", ({ writer }) => writer],
  ["other_sync_id", "bigint", ({ otherSyncId }) => otherSyncId],
  ["now", "timestamptz", ({ now }) => now],
]);

/** The columns that every entry has. */
export const ENTRIES = rowColumns<SavedEntry>(HEADS.next, [
  ["tenant", "bigint", ({ tenant }) => tenant],
  ["sync_id", "bigint", ({ entry }) => entry.syncId],
  ["model", "text", ({ entry }) => entry.model],
  ["id", "text", ({ entry }) => entry.id],
  ["data", "json", ({ entry }) => entry.data],
  ["groups", "text[]", ({ entry }) => entry.groups],
  ["client_tx_id", "text", ({ entry }) => entry.clientTxId],
  ["client_id", "text", ({ entry }) => entry.clientId],
  ["transaction_id", "text", ({ entry }) => entry.transactionId],
  ["actor", "text", ({ entry }) => entry.actor],
  ["participant_kind", "text", ({ entry }) => entry.participantKind],
  ["created_by", "text", ({ after }) => after?.createdBy ?? null],
  ["created_at", "timestamptz", ({ entry }) => entry.createdAt],
  ["attribution", "json", ({ entry }) => entry.attribution],
]);

/** The columns that entries other than creates need as well. */
const FURTHER = rowColumns<SavedEntry>(ENTRIES.next, [
  ["verb", "text", ({ entry }) => entry.verb],
  ["changed_fields", "json", ({ entry }) => entry.changedFields],
  ["groups_before", "text[]", ({ entry }) => entry.groupsBefore],
  ["claim", "text", ({ entry }) => entry.claim],
  ["row", "text", ({ row }) => row],
  ["archived_at", "timestamptz", ({ after }) => after?.archivedAt ?? null],
  ["created_sync_id", "bigint", ({ createdSyncId }) => createdSyncId],
  ["row_created_at", "timestamptz", ({ after }) => after?.createdAt ?? null],
  ["updated_by", "text", ({ after }) => after?.updatedBy ?? null],
  ["keeps_values", "boolean", ({ keepsValues }) => keepsValues],
]);

/** Moves the tenants' heads. `rows`: the select list of the heads, with further columns. */
export const moveHeads = (rows: string): string =>
  `update holdfast.head h set sync_id = n.sync_id, writer = n.writer, other_sync_id = n.other_sync_id, last_at = n.now
  from (select ${rows}) n where h.tenant = n.tenant and h.tenant = any(${HEADS.array("tenant")})`;

export const FILE_GROUPS = `insert into holdfast.group_head as g (tenant, name, sync_id, writer, other_sync_id)
  select ${GROUPS.rows}
  on conflict (tenant, name) do update set sync_id = excluded.sync_id, writer = excluded.writer,
    other_sync_id = case
      when excluded.other_sync_id > 0 then excluded.other_sync_id
      when excluded.writer = g.writer then g.other_sync_id
      else g.sync_id end`;

export const KEEP_RECEIPTS = `insert into holdfast.receipt (tenant, key, fingerprint, body, held, created_at)
select ${RECEIPTS.rows}, $1::timestamptz(3)`;

/** In the order of `RECORD_COLUMNS`. */
const ROW = `tenant, model, id, sync_id, case when keeps_values then data end, groups, archived_at, created_sync_id, created_by, row_created_at, created_at, updated_by`;

const SAVE = `
with entry as materialized (
  select ${ENTRIES.rows}, ${FURTHER.rows}
), appended as (
  insert into holdfast.log (tenant, sync_id, model, id, verb, data, changed_fields, groups, groups_before,
    client_tx_id, client_id, transaction_id, actor, participant_kind, claim, created_at, attribution, archived_at,
    record_created_at, record_created_by, created_sync_id)
  select tenant, sync_id, model, id, verb, data, changed_fields, groups, groups_before,
    client_tx_id, client_id, transaction_id, actor, participant_kind, claim, created_at, attribution,
    case when verb = 'updated' or verb = 'archived' and archived_at <> created_at then archived_at end,
    case when verb <> 'created' then row_created_at end, case when verb <> 'created' then created_by end,
    -- Of a record that was gone already, the entry that ended it says where it was made.
    case when verb in ('deleted', 'erased') and created_sync_id < sync_id then created_sync_id end from entry
), inserted as (
  insert into holdfast.record (${RECORD_COLUMNS}) select ${ROW} from entry where row = 'inserted'
), updated as (
  insert into holdfast.record (${RECORD_COLUMNS}) select ${ROW} from entry where row = 'updated'
  on conflict (tenant, model, id) do update set sync_id = excluded.sync_id, data = excluded.data, groups = excluded.groups,
    archived_at = excluded.archived_at, created_sync_id = excluded.created_sync_id, created_by = excluded.created_by,
    created_at = excluded.created_at, updated_at = excluded.updated_at, updated_by = excluded.updated_by,
    hidden = case when record.created_sync_id = excluded.created_sync_id then record.hidden end
), grouped as (
  ${FILE_GROUPS}
), moved as (
  ${moveHeads(HEADS.rows)}
)
${KEEP_RECEIPTS}`;
