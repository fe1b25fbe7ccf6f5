import type { LogLine } from "../rules/world-state.ts";
import type { Statement } from "./statement.ts";

/** A line to append, with its entry as JSON text: the same text is stored and sent to those who listen. */
export interface SavedLine {
  readonly world: number;
  readonly line: LogLine;
  readonly entry: string;
  /** The last line of its record in this round: it alone decides the row. */
  readonly last: boolean;
}

export interface SavedReceipt {
  readonly world: number;
  readonly participant: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly body: string | null;
  readonly held: boolean;
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
 * Everything that a round writes, in one statement, with each payload sent and parsed once. What is hidden beside a row
 * stays with its record: one that was deleted and made again in the same round is another.
 * Rows that were deleted are taken away by `deleteRecords` beside it.
 */
export const saveRound = (round: Round): Statement<void> => ({
  name: "save_round",
  text: SAVE,
  values: [
    linesJson(round.lines),
    receiptsJson(round.receipts),
    JSON.stringify(round.heads),
    JSON.stringify(round.groups),
    round.now,
    round.heads.map(({ world }) => world),
  ],
  read: () => {},
});

/** The log entry's own text, opened at its end for what only the tables need. */
const linesJson = (lines: readonly SavedLine[]): string => `[${lines.map(lineJson).join(",")}]`;

function lineJson({ world, line, entry, last }: SavedLine): string {
  const { after } = line;
  const row =
    last && after
      ? {
          archivedAt: after.archivedAt,
          createdSyncId: after.createdSyncId,
          createdBy: after.createdBy,
          recordCreatedAt: after.createdAt,
          updatedBy: after.updatedBy,
        }
      : {};
  const extra = JSON.stringify({
    world,
    key: line.model,
    row: last && after !== null,
    groups: line.groups,
    groupsBefore: line.groupsBefore,
    ...row,
  });
  return `${entry.slice(0, -1)},${extra.slice(1)}`;
}

const receiptsJson = (receipts: readonly SavedReceipt[]): string => `[${receipts.map(receiptJson).join(",")}]`;

/** The body goes in as it is: the text that is stored is the text that was sent. */
const receiptJson = ({ world, participant, name, fingerprint, held, body }: SavedReceipt): string =>
  `${JSON.stringify({ world, participant, name, fingerprint, held }).slice(0, -1)},"body":${body ?? "null"}}`;

const SAVE = `
with line as materialized (
  select * from json_to_recordset($1::json) as line(
    world int, "syncId" bigint, key text, id text, verb text, data json, "changedFields" json, groups text[], "groupsBefore" text[],
    "clientTxId" text, "clientId" text, "transactionId" text, actor text, "participantKind" text, claim text, "createdAt" timestamptz(3),
    row boolean, "archivedAt" timestamptz(3), "createdSyncId" bigint, "createdBy" text, "recordCreatedAt" timestamptz(3), "updatedBy" text)
), appended as (
  insert into holdfast.log (world, sync_id, model, id, verb, data, changed_fields, groups, groups_before,
    client_tx_id, client_id, transaction_id, actor, participant_kind, claim, created_at)
  select world, "syncId", key, id, verb, data, "changedFields", groups, "groupsBefore",
    "clientTxId", "clientId", "transactionId", actor, "participantKind", claim, "createdAt" from line
), written as (
  insert into holdfast.record (world, model, id, sync_id, data, groups, archived_at, created_sync_id, created_by, created_at, updated_at, updated_by)
  select world, key, id, "syncId", data, groups, "archivedAt", "createdSyncId", "createdBy", "recordCreatedAt", "createdAt", "updatedBy"
  from line where row
  on conflict (world, model, id) do update set sync_id = excluded.sync_id, data = excluded.data, groups = excluded.groups,
    archived_at = excluded.archived_at, created_sync_id = excluded.created_sync_id, created_by = excluded.created_by,
    created_at = excluded.created_at, updated_at = excluded.updated_at, updated_by = excluded.updated_by,
    hidden = case when record.created_sync_id = excluded.created_sync_id then record.hidden end
), grouped as (
  insert into holdfast.group_head as g (world, name, sync_id, writer, other_sync_id)
  select world, name, "syncId", writer, "otherSyncId"
  from json_to_recordset($4::json) as x(world int, name text, "syncId" bigint, writer text, "otherSyncId" bigint)
  on conflict (world, name) do update set sync_id = excluded.sync_id, writer = excluded.writer,
    other_sync_id = case
      when excluded.other_sync_id > 0 then excluded.other_sync_id
      when excluded.writer = g.writer then g.other_sync_id
      else g.sync_id end
), moved as (
  update holdfast.head h set sync_id = n."syncId", writer = n.writer, other_sync_id = n."otherSyncId", last_at = n.now
  from json_to_recordset($3::json) as n(world int, "syncId" bigint, writer text, "otherSyncId" bigint, now timestamptz(3))
  where h.world = n.world and h.world = any($6::int[])
)
insert into holdfast.receipt (world, participant, name, fingerprint, body, held, created_at)
select world, participant, name, fingerprint, body, held, $5::timestamptz(3)
from json_to_recordset($2::json) as r(world int, participant text, name text, fingerprint text, body json, held boolean)
on conflict (world, participant, name) do nothing`;
