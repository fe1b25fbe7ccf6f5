import type { News } from "../core/effects.ts";
import { CLOSED } from "../core/queue/failure.ts";
import { SyncError } from "../errors.ts";
import type { CommitReceipt } from "../protocol/commits/commit.ts";

interface Waiter {
  readonly queued: Deferred<void>;
  readonly receipt: Deferred<CommitReceipt>;
}

/** The promises that callers hold for their writes. */
export class PendingPromises {
  readonly #byTxId = new Map<string, Waiter>();

  /** Creates the promises for a write that is about to be made. */
  add(clientTxId: string): { queued: Promise<void>; receipt: Promise<CommitReceipt> } {
    const waiter: Waiter = { queued: defer(), receipt: defer() };
    this.#byTxId.set(clientTxId, waiter);
    return { queued: waiter.queued.promise, receipt: waiter.receipt.promise };
  }

  /** Names of the writes that callers await. */
  names(): Iterable<string> {
    return this.#byTxId.keys();
  }

  notify(clientTxId: string, news: News): void {
    const waiter = this.#byTxId.get(clientTxId);
    if (!waiter) return;
    switch (news.kind) {
      case "queued":
        return waiter.queued.resolve();
      case "not-durable":
        return waiter.queued.reject(new SyncError(news.failure));
      case "confirmed":
        waiter.receipt.resolve(news.receipt);
        break;
      case "failed":
        waiter.receipt.reject(new SyncError(news.failure));
        break;
      case "renamed":
        this.#byTxId.set(news.to, waiter);
        break;
    }
    if (news.kind !== "renamed") waiter.queued.resolve();
    this.#byTxId.delete(clientTxId);
  }

  close(): void {
    for (const { queued, receipt } of this.#byTxId.values()) {
      queued.reject(new SyncError(CLOSED));
      receipt.reject(new SyncError(CLOSED));
    }
    this.#byTxId.clear();
  }
}

interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: SyncError): void;
}

function defer<T>(): Deferred<T> {
  const deferred = {} as Deferred<T>;
  deferred.promise = new Promise<T>((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  // Most callers ignore these promises, and `attention` and `conflicts` show refused writes anyway. Avoid unhandled
  // rejections.
  deferred.promise.catch(() => {});
  return deferred;
}
