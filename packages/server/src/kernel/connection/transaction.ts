import type pg from "pg";
import { Connection, READ_ONLY_STATE } from "./connection.ts";
import { errorState } from "./database-error.ts";
import type { Database } from "./pool.ts";
import { BEGIN } from "./statement.ts";

export type Transaction = Pick<pg.ClientBase, "query">;

/** Lifts the timeouts for the rest of this transaction. */
export async function takeTime(tx: Transaction): Promise<void> {
  if (tx instanceof Connection) tx.answers("in time");
  await tx.query("set local statement_timeout = 0");
}

const RETRIED = new Set(["40001", "40P01"]);

/** Runs `work` read-only, as of one moment. */
export const momentOf = <T>(pool: Database, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  transaction(pool, work, "begin isolation level repeatable read read only");

/** Runs `work` in one transaction. Retries, up to three times, if Postgres asks for it. */
export async function transaction<T>(pool: Database, work: (tx: Transaction) => Promise<T>, begin = BEGIN): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      return await transactionOn(client, work, begin, (failure) => {
        broken = failure;
      });
    } catch (error) {
      if (errorState(error) === READ_ONLY_STATE) broken = error as Error;
      if (attempt === 3 || !RETRIED.has(errorState(error) ?? "")) throw error;
    } finally {
      client.release(broken);
    }
  }
}

/** The same on an existing connection, without a retry. `broke` is called if not even the rollback succeeded. */
export async function transactionOn<T>(
  client: Transaction,
  work: (tx: Transaction) => Promise<T>,
  begin = BEGIN,
  broke: (error: Error) => void = () => {},
): Promise<T> {
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    // In any case the transaction has ended: by this rollback, or with its connection.
    await client.query("rollback").catch(broke);
    throw error;
  } finally {
    if (client instanceof Connection) client.answers("soon");
  }
}
