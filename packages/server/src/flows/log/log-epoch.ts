import type { Connection } from "../../db/connection/connection.ts";
import type { Database } from "../../db/connection/pool.ts";
import { type Transaction, takeTime, transaction } from "../../db/connection/transaction.ts";
import { lockAllHeads, lockLogEpoch, readLogEpoch, renewLogIds, saveOrigin } from "../../db/log/log-epoch.ts";
import { newId } from "../../ids.ts";

/**
 * Notices that the database is another one than before: restored from a backup, or a standby that was promoted. Its logs may
 * end earlier than those that clients have read, and give the same positions to other changes. So they get new ids before
 * anything of it is answered:
 *
 *   new connection ─► its system identifier and timeline ─► as written down? ─► used
 *                                                             └─ no: new log ids, in one transaction ─┐
 *                     the epoch is another one than this process knows: it forgets what it read ◄─────┘
 *
 * A copy of files that was made of a stopped database keeps both, so `holdfast log renew` does the same by hand.
 */
export interface LogEpochs {
  /** Asked of each new connection before it is used. */
  verify(connection: Connection): Promise<void>;
  /** Another process may have renewed the logs. */
  ask(): Promise<void>;
}

export interface LogEpochListener {
  /** What was read of the logs so far is void. */
  changed(): void;
  /** The logs got new ids by this process. */
  renewed(origin: { readonly from: string; readonly to: string }): void;
  /** The database does not say which one it is. */
  unknown(): void;
}

export function followLogEpoch(db: () => Database, { changed, renewed, unknown }: LogEpochListener): LogEpochs {
  let current: string | undefined;
  let isUnknown = false;

  function learn(epoch: string): void {
    const before = current;
    current = epoch;
    if (before !== undefined && before !== epoch) changed();
  }

  return {
    async verify(connection) {
      const found = await readLogEpoch(connection);
      if (found.actual === undefined && !isUnknown) unknown();
      isUnknown = found.actual === undefined;
      if (found.actual === undefined || found.actual === found.origin) return learn(found.epoch);
      const { epoch, from } = await moveTo(connection, found.actual);
      learn(epoch);
      if (from !== undefined) renewed({ from, to: found.actual });
    },
    ask: async () => learn((await readLogEpoch(db())).epoch),
  };
}

/** `from`: where the logs were before, when they were renewed. */
async function moveTo(connection: Connection, actual: string): Promise<{ epoch: string; from?: string }> {
  // A failure ends the connection, and the transaction with it.
  await connection.query("begin");
  await takeTime(connection);
  const { epoch, origin } = await lockLogEpoch(connection);
  const isRenewal = origin !== null && origin !== actual;
  const next = isRenewal ? await renewAll(connection) : epoch;
  await saveOrigin(connection, actual);
  await connection.query("commit");
  connection.answers("soon");
  return { epoch: next, ...(isRenewal && { from: origin }) };
}

/** By hand: answers how many logs have another id now. */
export async function renewLogs(db: Database): Promise<number> {
  const { actual } = await readLogEpoch(db);
  return await transaction(db, async (tx) => {
    await takeTime(tx);
    await lockLogEpoch(tx);
    const tenants = await lockAllHeads(tx);
    await renewLogIds(tx, withNewIds(tenants));
    if (actual !== undefined) await saveOrigin(tx, actual);
    return tenants.length;
  });
}

const renewAll = async (tx: Transaction): Promise<string> => await renewLogIds(tx, withNewIds(await lockAllHeads(tx)));

const withNewIds = (tenants: readonly number[]) => tenants.map((tenant) => ({ tenant, logId: newId("log_") }));
