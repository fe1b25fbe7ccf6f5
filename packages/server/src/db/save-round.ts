import type { StoredEntry } from "../rules/entry-text.ts";
import type { NewReceipt, RecordState } from "../rules/world-state.ts";
import { booleans, jsons, listText, numbers, texts } from "./columns.ts";
import type { Statement } from "./statement.ts";

/** A line to append. */
export interface SavedLine {
  readonly world: number;
  readonly entry: StoredEntry;
  /** The record after it. */
  readonly after: RecordState | null;
  /** What the round does to the record's row: decided by its last line alone. */
  readonly row: "inserted" | "updated" | "deleted" | null;
}

export interface SavedReceipt extends NewReceipt {
  readonly world: number;
}

export interface SavedHead {
  readonly world: number;
  readonly syncId: number;
  readonly writer: string | null;
  readonly otherSyncId: number;
  readonly now: string;
}

/** A group's newest positions within the round; `otherSyncId` 0 when the round had one writer only. */
export interface SavedGroup {
  readonly world: number;
  readonly name: string;
  readonly syncId: number;
  readonly writer: string | null;
  readonly otherSyncId: number;
}

export interface Round {
  readonly lines: readonly SavedLine[];
  readonly receipts: readonly SavedReceipt[];
  readonly heads: readonly SavedHead[];
  readonly groups: readonly SavedGroup[];
  readonly now: string;
}

/**
 * Everything that a round writes, in one statement, with each payload sent once. The round holds the heads of its
 * worlds, so it knows which rows are there: new ones are plain inserts, which cost less than asking again.
 * What is hidden beside a row stays with its record: one that was deleted and made again in the same round is another.
 * Rows that were deleted are taken away by `deleteRecords` beside it.
 */
export const saveRound = (round: Round): Statement<void> => ({
  name: "save_round",
  text: SAVE,
  values: [...commonValues(round), ...furtherColumns(round.lines)],
  read: () => {},
});

/** What every statement begins with that saves a round: `$1` to `$23`, of which the lines are the last 13. */
export const commonValues = ({ lines, receipts, heads, groups, now }: Round): readonly unknown[] => [
  ...receiptColumns(receipts),
  JSON.stringify(heads),
  JSON.stringify(groups),
  now,
  heads.map(({ world }) => world),
  numbers(lines.map(({ world }) => world)),
  numbers(lines.map(({ entry }) => entry.syncId)),
  texts(lines.map(({ entry }) => entry.model)),
  texts(lines.map(({ entry }) => entry.id)),
  jsons(lines.map(({ entry }) => entry.data)),
  texts(lines.map(({ entry }) => listText(entry.groups))),
  texts(lines.map(({ entry }) => entry.clientTxId)),
  texts(lines.map(({ entry }) => entry.clientId)),
  texts(lines.map(({ entry }) => entry.transactionId)),
  texts(lines.map(({ entry }) => entry.actor)),
  texts(lines.map(({ entry }) => entry.participantKind)),
  texts(lines.map(({ after }) => after?.createdBy ?? null)),
  texts(lines.map(({ entry }) => entry.createdAt)),
];

/** What is not plain of a line that is no create. */
const furtherColumns = (lines: readonly SavedLine[]): Buffer[] => [
  texts(lines.map(({ entry }) => entry.verb)),
  jsons(lines.map(({ entry }) => entry.changedFields)),
  texts(lines.map(({ entry }) => entry.groupsBefore && listText(entry.groupsBefore))),
  texts(lines.map(({ entry }) => entry.claim)),
  texts(lines.map(({ row }) => row)),
  texts(lines.map(({ after }) => after?.archivedAt ?? null)),
  numbers(lines.map(({ after }) => after?.createdSyncId ?? null)),
  texts(lines.map(({ after }) => after?.createdAt ?? null)),
  texts(lines.map(({ after }) => after?.updatedBy ?? null)),
];

const receiptColumns = (receipts: readonly SavedReceipt[]): Buffer[] => [
  numbers(receipts.map(({ world }) => world)),
  texts(receipts.map(({ participant }) => participant)),
  texts(receipts.map(({ name }) => name)),
  texts(receipts.map(({ fingerprint }) => fingerprint)),
  // As it was sent, byte for byte.
  jsons(receipts.map(({ body }) => body)),
  booleans(receipts.map(({ held }) => held)),
];

const ROW_COLUMNS =
  "world, model, id, sync_id, data, groups, archived_at, created_sync_id, created_by, created_at, updated_at, updated_by";
const ROW = `world, model, id, sync_id, data, groups::text[], archived_at::timestamptz(3), created_sync_id, created_by,
    row_created_at::timestamptz(3), created_at::timestamptz(3), updated_by`;

/**
 * What both ways of saving a round do with its groups, heads and receipts, with `commonValues`. It ends before the
 * source of the receipts: `answered`, and whatever has to be so before anything is written.
 */
export const COMMON = `grouped as (
  insert into holdfast.group_head as g (world, name, sync_id, writer, other_sync_id)
  select world, name, "syncId", writer, "otherSyncId"
  from json_to_recordset($8::json) as x(world int, name text, "syncId" bigint, writer text, "otherSyncId" bigint)
  on conflict (world, name) do update set sync_id = excluded.sync_id, writer = excluded.writer,
    other_sync_id = case
      when excluded.other_sync_id > 0 then excluded.other_sync_id
      when excluded.writer = g.writer then g.other_sync_id
      else g.sync_id end
), moved as (
  update holdfast.head h set sync_id = n."syncId", writer = n.writer, other_sync_id = n."otherSyncId", last_at = n.now
  from json_to_recordset($7::json) as n(world int, "syncId" bigint, writer text, "otherSyncId" bigint, now timestamptz(3))
  where h.world = n.world and h.world = any($10::int[])
), answered as (
  select receipt.* from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::json[], $6::boolean[])
    as receipt(world, participant, name, fingerprint, body, held)
)
insert into holdfast.receipt (world, participant, name, fingerprint, body, held, created_at)
select world, participant, name, fingerprint, body, held, $9::timestamptz(3) from`;

const SAVE = `
with line as materialized (
  select * from unnest($11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::json[], $16::text[],
      $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[],
      $24::text[], $25::json[], $26::text[], $27::text[], $28::text[], $29::text[], $30::bigint[], $31::text[], $32::text[])
    as line(world, sync_id, model, id, data, groups, client_tx_id, client_id, transaction_id, actor, participant_kind,
      created_by, created_at,
      verb, changed_fields, groups_before, claim, row, archived_at, created_sync_id, row_created_at, updated_by)
), appended as (
  insert into holdfast.log (world, sync_id, model, id, verb, data, changed_fields, groups, groups_before,
    client_tx_id, client_id, transaction_id, actor, participant_kind, claim, created_at)
  select world, sync_id, model, id, verb, data, changed_fields, groups::text[], groups_before::text[],
    client_tx_id, client_id, transaction_id, actor, participant_kind, claim, created_at::timestamptz(3) from line
), inserted as (
  insert into holdfast.record (${ROW_COLUMNS}) select ${ROW} from line where row = 'inserted'
), updated as (
  insert into holdfast.record (${ROW_COLUMNS}) select ${ROW} from line where row = 'updated'
  on conflict (world, model, id) do update set sync_id = excluded.sync_id, data = excluded.data, groups = excluded.groups,
    archived_at = excluded.archived_at, created_sync_id = excluded.created_sync_id, created_by = excluded.created_by,
    created_at = excluded.created_at, updated_at = excluded.updated_at, updated_by = excluded.updated_by,
    hidden = case when record.created_sync_id = excluded.created_sync_id then record.hidden end
), ${COMMON} answered`;
