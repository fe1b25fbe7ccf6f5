import type { StoredEntry } from "../rules/entry-text.ts";
import type { NewReceipt, RecordState } from "../rules/world-state.ts";
import { booleans, jsons, listText, numbers, texts } from "./columns.ts";
import type { LockedHead } from "./heads.ts";
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
  values: roundValues(round),
  read: () => {},
});

/**
 * The same as a transaction of its own, for a round that was judged by heads that nobody has locked yet: it locks them,
 * in the order of their worlds, before it writes anything. Fails with `HEAD_MOVED` when one is another than was expected,
 * and with a unique violation when a name or a record is there that was taken not to be.
 */
export const saveExpectedRound = (round: Round, expected: readonly LockedHead[]): Statement<void> => ({
  name: "save_expected_round",
  text: SAVE_EXPECTED,
  values: [
    ...roundValues(round),
    expected.map(({ world }) => world),
    expected.map(({ logId }) => logId),
    expected.map(({ syncId }) => syncId),
    expected.map(({ schemaVersion }) => schemaVersion),
  ],
  read: () => {},
});

const roundValues = (round: Round): readonly unknown[] => [
  ...lineColumns(round.lines),
  ...receiptColumns(round.receipts),
  JSON.stringify(round.heads),
  JSON.stringify(round.groups),
  round.now,
  round.heads.map(({ world }) => world),
];

const lineColumns = (lines: readonly SavedLine[]): Buffer[] => [
  numbers(lines.map(({ world }) => world)),
  numbers(lines.map(({ entry }) => entry.syncId)),
  texts(lines.map(({ entry }) => entry.model)),
  texts(lines.map(({ entry }) => entry.id)),
  texts(lines.map(({ entry }) => entry.verb)),
  jsons(lines.map(({ entry }) => entry.data)),
  jsons(lines.map(({ entry }) => entry.changedFields)),
  texts(lines.map(({ entry }) => listText(entry.groups))),
  texts(lines.map(({ entry }) => entry.groupsBefore && listText(entry.groupsBefore))),
  texts(lines.map(({ entry }) => entry.clientTxId)),
  texts(lines.map(({ entry }) => entry.clientId)),
  texts(lines.map(({ entry }) => entry.transactionId)),
  texts(lines.map(({ entry }) => entry.actor)),
  texts(lines.map(({ entry }) => entry.participantKind)),
  texts(lines.map(({ entry }) => entry.claim)),
  texts(lines.map(({ entry }) => entry.createdAt)),
  texts(lines.map(({ row }) => row)),
  texts(lines.map(({ after }) => after?.archivedAt ?? null)),
  numbers(lines.map(({ after }) => after?.createdSyncId ?? null)),
  texts(lines.map(({ after }) => after?.createdBy ?? null)),
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

/** `before`: what comes first. `behind`: what nothing is written ahead of. */
function saveText(before = "", behind = ""): string {
  return `
with ${before}line as materialized (
  select line.* from ${behind}unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::json[], $7::json[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
      $17::text[], $18::text[], $19::bigint[], $20::text[], $21::text[], $22::text[])
    as line(world, sync_id, model, id, verb, data, changed_fields, groups, groups_before,
      client_tx_id, client_id, transaction_id, actor, participant_kind, claim, created_at,
      row, archived_at, created_sync_id, created_by, row_created_at, updated_by)
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
), grouped as (
  insert into holdfast.group_head as g (world, name, sync_id, writer, other_sync_id)
  select world, name, "syncId", writer, "otherSyncId"
  from json_to_recordset($30::json) as x(world int, name text, "syncId" bigint, writer text, "otherSyncId" bigint)
  on conflict (world, name) do update set sync_id = excluded.sync_id, writer = excluded.writer,
    other_sync_id = case
      when excluded.other_sync_id > 0 then excluded.other_sync_id
      when excluded.writer = g.writer then g.other_sync_id
      else g.sync_id end
), moved as (
  update holdfast.head h set sync_id = n."syncId", writer = n.writer, other_sync_id = n."otherSyncId", last_at = n.now
  from json_to_recordset($29::json) as n(world int, "syncId" bigint, writer text, "otherSyncId" bigint, now timestamptz(3))
  where h.world = n.world and h.world = any($32::int[])
)
insert into holdfast.receipt (world, participant, name, fingerprint, body, held, created_at)
select world, participant, name, fingerprint, body, held, $31::timestamptz(3)
from ${behind}unnest($23::bigint[], $24::text[], $25::text[], $26::text[], $27::json[], $28::boolean[])
  as receipt(world, participant, name, fingerprint, body, held)`;
}

const SAVE = saveText();

const SAVE_EXPECTED = saveText(
  `expected as materialized (
  select count(holdfast.lock_expected_head(world, log_id, sync_id, schema_version))
  from unnest($33::int[], $34::text[], $35::bigint[], $36::int[]) as head(world, log_id, sync_id, schema_version)
), `,
  "expected cross join ",
);
