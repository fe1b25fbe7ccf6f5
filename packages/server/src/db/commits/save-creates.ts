import type { Statement } from "../connection/statement.ts";
import type { LockedHead } from "./heads.ts";
import type { HistoryQuestion } from "./history.ts";
import { rowColumns } from "./row-columns.ts";
import { ENTRIES, FILE_GROUPS, HEADS, KEEP_RECEIPTS, moveHeads, type Round, roundValues } from "./save-round.ts";

/** What a round took for granted that was judged before anything was looked up. */
export interface Expectation {
  /** Of the tenants that the round moves, in the same order. */
  readonly heads: readonly LockedHead[];
  /** Records of which the log says nothing after a position. */
  readonly unseen: readonly HistoryQuestion[];
}

/** SQLSTATE of `saveCreates` when something is not as it was expected. */
export const UNEXPECTED = "WM001";

/**
 * A round of nothing but creates, as a transaction of its own. It was judged by heads that nobody has locked yet: they
 * are locked by being moved, before anything else is written: in the order of their tenants as a rule, which nothing
 * promises; two servers that wait for each other end by their lock timeouts, and go on tenant by tenant. Fails with
 * `UNEXPECTED` when a head is not exactly the expected one, or when the log knows a record that it was not to know, and with a unique
 * violation when a name or a record is there.
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
 * The position alone does not identify a head: two rounds are on their way, the first fails because another process
 * wrote there, and the second finds that process's entry at the very position at which it expected the first one's.
 *
 * A record that was made now says the rest of itself: it was never archived, and nobody changed it.
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
    client_tx_id, client_id, transaction_id, actor, participant_kind, created_at)
  select tenant, sync_id, model, id, 'created', data, groups,
    client_tx_id, client_id, transaction_id, actor, participant_kind, created_at from entry
), inserted as (
  insert into holdfast.record (tenant, model, id, sync_id, data, groups,
    created_sync_id, created_by, created_at, updated_at, updated_by)
  select tenant, model, id, sync_id, data, groups, sync_id, created_by, created_at, created_at, created_by from entry
), grouped as (
  ${FILE_GROUPS}
)
${KEEP_RECEIPTS} from expected`;
