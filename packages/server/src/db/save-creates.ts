import type { LockedHead } from "./heads.ts";
import type { HistoryQuestion } from "./history.ts";
import { COMMON, commonValues, type Round } from "./save-round.ts";
import type { Statement } from "./statement.ts";

/** What a round took for granted that was judged before anything was looked up. */
export interface Expectation {
  readonly heads: readonly LockedHead[];
  /** Records of which the log says nothing after a position. */
  readonly unseen: readonly HistoryQuestion[];
}

/** SQLSTATE of `saveCreates` when something is not as it was expected. */
export const UNEXPECTED = "WM001";

/**
 * A round of nothing but creates, as a transaction of its own. It was judged by heads that nobody has locked yet: they
 * are locked here, in the order of their worlds, before anything is written. Fails with `UNEXPECTED` when one moved, or
 * when the log knows a record that it was not to know, and with a unique violation when a name or a record is there.
 */
export const saveCreates = (round: Round, { heads, unseen }: Expectation): Statement<void> => ({
  name: "save_creates",
  text: SAVE_CREATES,
  values: [
    ...commonValues(round),
    heads.map(({ world }) => world),
    heads.map(({ logId }) => logId),
    heads.map(({ syncId }) => syncId),
    heads.map(({ schemaVersion }) => schemaVersion),
    unseen.map(({ world }) => world),
    unseen.map(({ model }) => model),
    unseen.map(({ id }) => id),
    unseen.map(({ after }) => after),
  ],
  read: () => {},
});

/** A record that was made now says the rest of itself: it was never archived, and nobody changed it. */
const SAVE_CREATES = `
with locked as materialized (
  select count(holdfast.lock_expected_head(world, log_id, sync_id, schema_version))
  from unnest($24::int[], $25::text[], $26::bigint[], $27::int[]) as head(world, log_id, sync_id, schema_version)
), expected as materialized (
  select holdfast.expect_unseen($28, $29, $30, $31) from locked
), line as materialized (
  select line.world, sync_id, model, id, data, groups::text[], client_tx_id, client_id, transaction_id, actor, participant_kind,
    created_by, created_at::timestamptz(3)
  from expected cross join unnest($11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::json[], $16::text[],
      $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[])
    as line(world, sync_id, model, id, data, groups, client_tx_id, client_id, transaction_id, actor, participant_kind,
      created_by, created_at)
), appended as (
  insert into holdfast.log (world, sync_id, model, id, verb, data, groups,
    client_tx_id, client_id, transaction_id, actor, participant_kind, created_at)
  select world, sync_id, model, id, 'created', data, groups,
    client_tx_id, client_id, transaction_id, actor, participant_kind, created_at from line
), inserted as (
  insert into holdfast.record (world, model, id, sync_id, data, groups,
    created_sync_id, created_by, created_at, updated_at, updated_by)
  select world, model, id, sync_id, data, groups, sync_id, created_by, created_at, created_at, created_by from line
), ${COMMON} expected cross join answered`;
