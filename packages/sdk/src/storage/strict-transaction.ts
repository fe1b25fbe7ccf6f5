import type { Database } from "./database.ts";

/**
 * Uses the platform's transaction directly, because it can set the durability of each transaction: "strict" waits until
 * the bytes are on disk, not in a buffer. Resolves at `complete`; before that, the writes can still be lost.
 */
export function strictTransaction<T>(
  db: Database,
  stores: readonly ("mutations" | "meta")[],
  work: (transaction: IDBTransaction) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const backend: IDBDatabase | null = db.backendDB();
    if (!backend) throw new DOMException("The database was closed.", "InvalidStateError");
    const transaction = backend.transaction([...stores], "readwrite", { durability: "strict" });
    let result: T;
    work(transaction).then(
      (worked) => {
        result = worked;
      },
      // The transaction's error event reports the cause.
      () => transaction.abort(),
    );
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was aborted."));
  });
}

/** The result of a request inside a live transaction. Awaiting anything else would end the transaction. */
export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
