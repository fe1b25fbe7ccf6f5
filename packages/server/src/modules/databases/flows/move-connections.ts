import { type Connection, connectTo } from "../../../kernel/connection/connection.ts";
import { session } from "../../../kernel/connection/pool.ts";
import { type Transaction, transactionOn } from "../../../kernel/connection/transaction.ts";
import { deleteSome } from "../db/tenant-rows.ts";

/** Rows per statement while a tenant's rows are deleted. */
const DELETED_AT_ONCE = 5_000;

/** Connections that end with the work, or when the server stops. */
export async function withConnections<const U extends readonly string[], T>(
  urls: U,
  signal: AbortSignal,
  work: (opened: { readonly [K in keyof U]: Connection }) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const opened: Connection[] = [];
  const end = () => Promise.all(opened.map((connection) => connection.end().catch(() => {})));
  signal.addEventListener("abort", end);
  try {
    for (const url of urls) opened.push(await open(url));
    return await work(opened as unknown as { readonly [K in keyof U]: Connection });
  } finally {
    signal.removeEventListener("abort", end);
    await end();
  }
}

/** Deletes all rows of a tenant, whose head is closed. */
export async function deleteAll(connection: Connection, tenant: number): Promise<void> {
  while (await longTransaction(connection, (tx) => deleteSome(tx, tenant, DELETED_AT_ONCE)));
}

/** A transaction that may take any time. */
export const longTransaction = <T>(
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
  begin?: string,
): Promise<T> =>
  transactionOn(
    connection,
    (tx) => {
      connection.answers("in time");
      return work(tx);
    },
    begin,
  );

/** A connection without timeouts: a copy takes as long as it takes. */
async function open(url: string): Promise<Connection> {
  const connection = await connectTo(url, {
    ...session,
    options: "-c timezone=UTC -c idle_in_transaction_session_timeout=0",
  });
  connection.answers("in time");
  return connection;
}
