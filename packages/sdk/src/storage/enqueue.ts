import type { Mutation, QueueChange, Slot } from "../core/queue/mutation.ts";
import type { Enqueued, Kept } from "../engine/ports.ts";
import type { Database } from "./database.ts";
import { lastSeqOf, type StoredMeta, type StoredMutation, storedPhase, toStored } from "./stored.ts";
import { answer, strictTransaction } from "./strict-transaction.ts";

/** Stores queue changes. Resolves only when they are on disk. */
export function enqueue(db: Database, changes: readonly QueueChange[]): Promise<Enqueued> {
  const isNew = changes.every(({ put, drop }) => drop.length === 0 && put.every(({ over }) => !over));
  return isNew
    ? strictTransaction(db, ["mutations"], (transaction) => putNew(transaction, changes))
    : strictTransaction(db, ["mutations", "meta"], (transaction) => exchange(transaction, changes));
}

/** New writes need only their `seq` numbers. */
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
  const taken: Slot[] = [];
  for (const { put, drop } of changes) {
    const expected = [...put.flatMap(({ over }) => over ?? []), ...drop];
    const there = await Promise.all(expected.map(({ seq }) => answer<StoredMutation | undefined>(store.get(seq))));
    const isThere = expected.every(
      ({ clientTxId, phase }, i) =>
        there[i]?.clientTxId === clientTxId && storedPhase(there[i] as StoredMutation) === phase,
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

/** Stores stages and marks of writes, unless another tab leads by now. A power cut must not take back that one was sent. */
export function keep(db: Database, mutations: readonly Mutation[], generation: number): Promise<Kept | "fenced"> {
  return strictTransaction(db, ["mutations", "meta"], async (transaction): Promise<Kept | "fenced"> => {
    const store = transaction.objectStore("mutations");
    const meta = transaction.objectStore("meta");
    const lead: StoredMeta = (await answer(meta.get("lead"))) ?? { key: "lead" };
    if (lead.generation !== generation) return "fenced";
    const kept = mutations.filter((m) => m.seq !== undefined);
    if (kept.length === 0) return { change: undefined };
    const there = await Promise.all(kept.map(({ seq = 0 }) => answer<StoredMutation | undefined>(store.get(seq))));
    for (const [i, m] of kept.entries()) if (there[i]?.clientTxId === m.clientTxId) store.put(toStored(m));
    const change = (lead.changes ?? 0) + 1;
    meta.put({ ...lead, changes: change, lastSeq: lastSeqOf(lead, kept) });
    return { change };
  });
}
