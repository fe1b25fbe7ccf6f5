import type { Database } from "./database.ts";

/**
 * Written with the platform's own transaction, because its durability is asked for one by one: "strict" waits until
 * the bytes are on the disk, not in a buffer. Resolves at `complete`: before it the writes can still be lost.
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
      // Its end tells why.
      () => transaction.abort(),
    );
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was aborted."));
  });
}

/** What the platform answers, while the transaction lives: nothing else may be waited for in it. */
export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
