import type { Head } from "../rules/world-state.ts";
import type { Statement } from "./statement.ts";
import type { Transaction } from "./transaction.ts";

/** Whether some of a tenant's records have a newer form beside their row: see rewritten-records.ts. */
export interface Rewriting {
  readonly rewriting: boolean;
}

export interface LockedHead extends Head {
  readonly world: number;
  /** The database's clock, or the newest entry's time when that lies ahead: times in a log never run backwards. */
  readonly now: string;
  /** The last number that a change of a claim took. */
  readonly claimChange: number;
  /** Claims that have not ended. */
  readonly claims: number;
}

const COLUMNS = `h.world, h.log_id, h.sync_id, h.writer, h.other_sync_id, h.schema_version, h.trimmed_to, h.rewriting`;

interface HeadRow {
  world: number;
  log_id: string;
  sync_id: number;
  writer: string | null;
  other_sync_id: number;
  schema_version: number;
  trimmed_to: number;
  rewriting: boolean;
}

const toHead = (row: HeadRow): Head & Rewriting => ({
  logId: row.log_id,
  syncId: row.sync_id,
  writer: row.writer,
  otherSyncId: row.other_sync_id,
  schemaVersion: row.schema_version,
  trimmedTo: row.trimmed_to,
  rewriting: row.rewriting,
});

/**
 * Locks the heads of the worlds that a round writes to, in the order of their numbers, so that two processes cannot
 * wait for each other. A statement of its own: what is loaded after it sees the world as it is under the lock.
 */
export const lockHeads = (worlds: readonly number[]): Statement<(LockedHead & Rewriting)[]> => ({
  name: "lock_heads",
  text: `select h.* from unnest($1::int[]) as k(world)
    cross join lateral (select ${COLUMNS}, h.claim_change, h.claims, greatest(h.last_at, clock_timestamp()::timestamptz(3)) as now
      from holdfast.head h where h.world = k.world limit 1 for update) h`,
  values: [worlds.toSorted((a, b) => a - b)],
  read: (rows) =>
    (rows as (HeadRow & { now: string; claim_change: number; claims: number })[]).map((row) => ({
      ...toHead(row),
      world: row.world,
      now: row.now,
      claimChange: row.claim_change,
      claims: row.claims,
    })),
});

export async function readHead(db: Transaction, world: number): Promise<Head & Rewriting> {
  const { rows } = await db.query<HeadRow>({
    name: "read_head",
    text: `select ${COLUMNS} from holdfast.head h where h.world = $1`,
    values: [world],
  });
  const row = rows[0];
  if (!row) throw new Error(`World ${world} has no head.`);
  return toHead(row);
}

/** Of these worlds those whose heads no other transaction holds. Nothing is waited for. */
export const freeHeads = (worlds: readonly number[]): Statement<ReadonlySet<number>> => ({
  name: "free_heads",
  text: "select world from holdfast.head where world = any($1::int[]) order by world for update skip locked",
  values: [worlds],
  read: (rows) => new Set((rows as { world: number }[]).map(({ world }) => world)),
});

/** A head, and where the newest erasure stands: what was read of the log before that is not to be shown any more. */
export interface ReadableHead extends Head {
  readonly erasedTo: number;
}

/** The heads of several worlds. */
export async function readHeads(db: Transaction, worlds: readonly number[]): Promise<Map<number, ReadableHead>> {
  const { rows } = await db.query<HeadRow & { erased_to: number }>({
    name: "read_heads",
    text: `select ${COLUMNS}, h.erased_to from unnest($1::int[]) as k(world)
      cross join lateral (select * from holdfast.head h where h.world = k.world limit 1) h`,
    values: [worlds],
  });
  return new Map(rows.map((row) => [row.world, { ...toHead(row), erasedTo: row.erased_to }]));
}

/** What of a head moves. */
export interface PolledHead {
  readonly syncId: number;
  readonly schemaVersion: number;
  readonly claimChange: number;
}

/** Where several logs and their claims end now. */
export async function readPolledHeads(db: Transaction, worlds: readonly number[]): Promise<Map<number, PolledHead>> {
  const { rows } = await db.query<PolledHead & { world: number }>({
    name: "read_polled_heads",
    text: `select h.* from unnest($1::int[]) as k(world)
      cross join lateral (select world, sync_id as "syncId", schema_version as "schemaVersion", claim_change as "claimChange"
        from holdfast.head h where h.world = k.world limit 1) h`,
    values: [worlds],
  });
  return new Map(rows.map((row) => [row.world, row]));
}
