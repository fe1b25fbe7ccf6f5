import type { Statement } from "../../connection/statement.ts";
import type { LockedHead } from "./heads.ts";
import type { HistoryQuestion } from "./history.ts";
import { rowColumns } from "./row-columns.ts";
import { ENTRIES, FILE_GROUPS, HEADS, KEEP_RECEIPTS, moveHeads, type Round, roundValues } from "./save-round.ts";

/** What a round that was judged without a load has assumed. */
export interface Expectation {
  /** For each tenant that the round moves, in the same order. */
  readonly heads: readonly LockedHead[];
  /** Records that must have no log entry after a position. */
  readonly unseen: readonly HistoryQuestion[];
}

/** SQLSTATE of `saveCreates` if an assumption was wrong. */
export const UNEXPECTED = "WM001";

/**
 * Saves a round that contains only creates, as one transaction. The round was judged by heads that nothing has locked
 * yet. The update of the heads locks them, before anything else is written. Postgres usually updates them in tenant
 * order, but does not guarantee it; if two servers deadlock, the lock timeouts end both rounds, and they continue
 * tenant by tenant.
 *
 * Fails with `UNEXPECTED` if a head differs from the expected one, or if the log has entries about a record that should
 * have none. Fails with a unique violation if a name is taken or a record exists.
 */
export const saveCreates = (round: Round, { heads, unseen }: Expectation): Statement<void> => ({
  name: "save_creates",
  text: SAVE_CREATES,
  values: [...roundValues(round), ...EXPECTED.values(heads), ...UNSEEN.values(unseen)],
  read: () => {},
});

const EXPECTED = rowColumns<LockedHead>(ENTRIES.next, [
  ["log_id", "text", ({ logId }) => logId],
  ["expected_sync_id", "bigint", ({ syncId }) => syncId],
  ["schema_version", "bigint", ({ schemaVersion }) => schemaVersion],
  ["expected_writer", "text", ({ writer }) => writer],
  ["expected_other_sync_id", "bigint", ({ otherSyncId }) => otherSyncId],
]);

const UNSEEN = rowColumns<HistoryQuestion>(EXPECTED.next, [
  ["tenant", "bigint", ({ tenant }) => tenant],
  ["model", "text", ({ model }) => model],
  ["id", "text", ({ id }) => id],
  ["after", "bigint", ({ after }) => after],
]);

/**
 * The position alone does not identify a head. Suppose two rounds are in progress, and the first fails because another
 * process has written to the tenant. The second then finds that process's entry at the very position where it expected
 * the first round's.
 *
 * Columns that a new record always has with the same value (not archived, never changed) are not sent.
 */
const SAVE_CREATES = `
with moved as (
  ${moveHeads(`${HEADS.rows}, ${EXPECTED.rows}`)}
    and h.log_id = n.log_id and h.sync_id = n.expected_sync_id and h.schema_version = n.schema_version
    and h.writer is not distinct from n.expected_writer and h.other_sync_id = n.expected_other_sync_id and h.last_at <= n.now
  returning 1
), expected as materialized (
  select case when holdfast.expect((select count(*) from moved) = cardinality(${HEADS.array("tenant")}), 'A head has moved.')
    then holdfast.expect_unseen(${UNSEEN.array("tenant")}, ${UNSEEN.array("model")}, ${UNSEEN.array("id")}, ${UNSEEN.array("after")}) end
), entry as materialized (
  select ${ENTRIES.rows} from expected
), appended as (
  insert into holdfast.log (tenant, sync_id, model, id, verb, data, groups,
    client_tx_id, client_id, transaction_id, actor, participant_kind, created_at, attribution)
  select tenant, sync_id, model, id, 'created', data, groups,
    client_tx_id, client_id, transaction_id, actor, participant_kind, created_at, attribution from entry
), inserted as (
  insert into holdfast.record (tenant, model, id, sync_id, data, groups,
    created_sync_id, created_by, created_at, updated_at, updated_by)
  select tenant, model, id, sync_id, data, groups, sync_id, created_by, created_at, created_at, created_by from entry
), grouped as (
  ${FILE_GROUPS}
)
${KEEP_RECEIPTS} from expected`;
