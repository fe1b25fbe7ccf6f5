import { lastingPhase, type Place, type QueueChange } from "../core/mutation.ts";
import type { Enqueued } from "../engine/ports.ts";
import type { Database } from "./database.ts";
import { lastSeqOf, type StoredMeta, type StoredMutation, toStored } from "./stored.ts";

/**
 * Written with the platform's own transaction, because its durability is asked for one by one: "strict" waits until
 * the bytes are on the disk, not in a buffer. Resolves at `complete`: before it the writes can still be lost.
 */
export function enqueue(db: Database, changes: readonly QueueChange[]): Promise<Enqueued> {
  return new Promise((resolve, reject) => {
    const backend: IDBDatabase | null = db.backendDB();
    if (!backend) throw new DOMException("The database was closed.", "InvalidStateError");
    const isNew = changes.every(({ put, drop }) => drop.length === 0 && put.every(({ over }) => !over));
    const scope = isNew ? ["mutations"] : ["mutations", "meta"];
    const transaction = backend.transaction(scope, "readwrite", { durability: "strict" });
    let enqueued: Enqueued | undefined;
    const work = isNew ? putNew(transaction, changes) : exchange(transaction, changes);
    work.then(
      (result) => {
        enqueued = result;
      },
      // Its end tells why.
      () => transaction.abort(),
    );
    transaction.oncomplete = () => resolve(enqueued ?? { places: [], change: undefined });
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was given up."));
  });
}

/** New writes need nothing but their places. */
async function putNew(transaction: IDBTransaction, changes: readonly QueueChange[]): Promise<Enqueued> {
  const store = transaction.objectStore("mutations");
  const requests = changes.map(({ put }) => put.map(({ mutation }) => store.put(toStored(mutation))));
  transaction.commit?.();
  const places = requests.map((each) => Promise.all(each.map(async (request) => Number(await answer(request)))));
  return { places: await Promise.all(places), change: undefined };
}

async function exchange(transaction: IDBTransaction, changes: readonly QueueChange[]): Promise<Enqueued> {
  const store = transaction.objectStore("mutations");
  const meta = transaction.objectStore("meta");
  const lead: StoredMeta = (await answer(meta.get("lead"))) ?? { key: "lead" };
  const places: (readonly number[] | "refused")[] = [];
  const taken: Place[] = [];
  for (const { put, drop } of changes) {
    const expected = [...put.flatMap(({ over }) => over ?? []), ...drop];
    const there = await Promise.all(expected.map(({ seq }) => answer<StoredMutation | undefined>(store.get(seq))));
    const isThere = expected.every(
      ({ clientTxId, phase }, i) =>
        there[i]?.clientTxId === clientTxId && lastingPhase((there[i] as StoredMutation).stage) === phase,
    );
    if (!isThere) {
      places.push("refused");
      continue;
    }
    taken.push(...expected);
    for (const { seq } of drop) store.delete(seq);
    places.push(
      await Promise.all(put.map(async ({ mutation }) => Number(await answer(store.put(toStored(mutation)))))),
    );
  }
  if (taken.length === 0) return { places, change: undefined };
  const change = (lead.changes ?? 0) + 1;
  meta.put({ ...lead, changes: change, lastSeq: lastSeqOf(lead, taken) });
  return { places, change };
}

/** What the platform answers, while the transaction lives: nothing else may be waited for in it. */
function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
