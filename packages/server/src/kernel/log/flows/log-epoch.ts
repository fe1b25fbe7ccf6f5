import { newId } from "../../../ids.ts";
import type { Connection } from "../../connection/connection.ts";
import type { Database } from "../../connection/pool.ts";
import { type Transaction, takeTime, transaction } from "../../connection/transaction.ts";
import { lockAllHeads, lockLogEpoch, readLogEpoch, renewLogIds, saveOrigin } from "../db/log-epoch.ts";
import { judgeOrigin } from "../rules/origin.ts";

/**
 * Detects that the database has been replaced: restored from a backup, or failed over to a promoted standby. Its logs
 * may then end earlier than those that clients have read, and give the same positions to other changes. So the logs get
 * new ids before the server answers anything from them:
 *
 *   new connection ─► read where the logs are ─► same as stored? ─► use it
 *                                                 └─ no: new log ids, in one transaction ─┐
 *        the epoch differs from this process's: discard everything read from the logs ◄───┘
 *
 * A file copy of a stopped database looks the same. For this case, `holdfast log renew` renews the ids by hand.
 */
export interface LogEpochs {
  /** Runs on each new connection before it is used. */
  verify(connection: Connection): Promise<void>;
  /** Checks the epoch, because another process may have renewed the logs. */
  ask(db: Database): Promise<void>;
}

export interface LogEpochListener {
  /** Everything read from the logs so far is invalid. */
  changed(): void;
  /** This process has given the logs new ids. */
  renewed(origin: { readonly from: string; readonly to: string }): void;
  /** The database does not report its identity. */
  unknown(): void;
}

export function followLogEpoch({ changed, renewed, unknown }: LogEpochListener): LogEpochs {
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
      if (judgeOrigin(found) === "same") return learn(found.epoch);
      const { epoch, from, to } = await moveHere(connection);
      learn(epoch);
      if (from !== undefined) renewed({ from, to });
    },
    ask: async (db) => learn((await readLogEpoch(db)).epoch),
  };
}

/** `from`: the previous origin of the logs, if they were renewed. */
async function moveHere(connection: Connection): Promise<{ epoch: string; from?: string; to: string }> {
  // On failure the connection ends, and its transaction with it.
  await connection.query("begin");
  await takeTime(connection);
  await lockLogEpoch(connection);
  // Another process may have been first.
  const found = await readLogEpoch(connection);
  const judged = judgeOrigin(found);
  const epoch = judged === "replaced" ? await renewAll(connection) : found.epoch;
  const to = judged === "same" ? (found.origin ?? "") : await saveOrigin(connection);
  await connection.query("commit");
  connection.answers("soon");
  return { epoch, to, ...(judged === "replaced" && found.origin !== null && { from: found.origin }) };
}

/** Renews the ids by hand. Returns how many logs have a new id. */
export async function renewLogs(db: Database): Promise<number> {
  const { actual } = await readLogEpoch(db);
  return await transaction(db, async (tx) => {
    await takeTime(tx);
    await lockLogEpoch(tx);
    const tenants = await lockAllHeads(tx);
    await renewLogsOf(tx, tenants, actual);
    return tenants.length;
  });
}

/** Gives the logs of some tenants new ids. `actual`: as it was read before the transaction. */
export async function renewLogsOf(tx: Transaction, tenants: readonly number[], actual?: string): Promise<void> {
  await renewLogIds(tx, withNewIds(tenants));
  if (actual !== undefined) await saveOrigin(tx);
}

const renewAll = async (tx: Transaction): Promise<string> => await renewLogIds(tx, withNewIds(await lockAllHeads(tx)));

const withNewIds = (tenants: readonly number[]) => tenants.map((tenant) => ({ tenant, logId: newId("log_") }));
