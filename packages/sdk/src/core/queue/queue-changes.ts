import type { PersistentMapDraft } from "../log/persistent-map.ts";
import { type Mutation, waitsForPerson } from "./mutation.ts";
import { find, isConfirmed, kept, placed, type Queue, relisted } from "./queue.ts";

/**
 * Replaces writes that are in the queue by new versions (stage, slot or body) under the same name. A version may touch
 * fewer records, after a decision against what it did to the others.
 */
export function withChanged(queue: Queue, mutations: readonly Mutation[]): Queue {
  if (mutations.length === 0) return queue;
  const next: Queue = {
    ...queue,
    byTxId: queue.byTxId.edit((draft) => {
      for (const m of mutations) if (draft.get(m.clientTxId)) draft.set(m.clientTxId, m);
    }),
    byRecord: queue.byRecord.edit((draft) => {
      for (const { clientTxId, keys } of mutations) {
        const before = find(queue, clientTxId)?.keys ?? [];
        // Most touch what they touched, and a commit may touch thousands of records.
        if (before.length <= keys.length) continue;
        for (const key of before) if (!keys.includes(key)) leave(draft, key, (name) => name !== clientTxId);
      }
    }),
    confirmed: relisted(queue.confirmed, queue, mutations, isConfirmed),
    waiting: relisted(queue.waiting, queue, mutations, waitsForPerson),
  };
  const news = mutations.filter((m) => m.seq !== find(queue, m.clientTxId)?.seq);
  return news.length === 0 ? next : placed(next, queue, news);
}

export function withoutMutations(queue: Queue, clientTxIds: readonly string[]): Queue {
  const removed = new Map<string, Mutation>();
  for (const name of clientTxIds) {
    const mutation = find(queue, name);
    if (mutation) removed.set(name, mutation);
  }
  if (removed.size === 0) return queue;
  const stays = (name: string) => !removed.has(name);
  return {
    ...queue,
    byTxId: queue.byTxId.edit((draft) => {
      for (const name of removed.keys()) draft.delete(name);
    }),
    order: queue.order.filter(stays),
    byRecord: queue.byRecord.edit((draft) => {
      for (const key of new Set([...removed.values()].flatMap((m) => m.keys))) leave(draft, key, stays);
    }),
    confirmed: kept(queue.confirmed, stays),
    waiting: kept(queue.waiting, stays),
  };
}

/** Only these writes still touch the record. */
function leave(byRecord: PersistentMapDraft<readonly string[]>, key: string, stays: (name: string) => boolean): void {
  const names = (byRecord.get(key) ?? []).filter(stays);
  if (names.length > 0) byRecord.set(key, names);
  else byRecord.delete(key);
}

/** Replaces a write in its slot, so that a resolved write stays ahead of the writes that follow it. */
export function withReplaced(queue: Queue, clientTxId: string, by: Mutation): Queue {
  const before = find(queue, clientTxId);
  if (!before) return queue;
  const swap = (name: string) => (name === clientTxId ? by.clientTxId : name);
  const order = queue.order.map(swap);
  const listed = (list: readonly string[], belongs: boolean) =>
    belongs ? [...new Set([...list.map(swap), by.clientTxId])] : kept(list, (name) => name !== clientTxId);
  return {
    ...queue,
    byTxId: queue.byTxId.edit((draft) => {
      draft.delete(clientTxId);
      draft.set(by.clientTxId, by);
    }),
    order,
    byRecord: queue.byRecord.edit((draft) => {
      for (const key of before.keys) {
        const names = (draft.get(key) ?? []).map(swap).filter((n) => n !== by.clientTxId || by.keys.includes(key));
        if (names.length > 0) draft.set(key, names);
        else draft.delete(key);
      }
      // After an edit, it may touch records that it did not touch before.
      const added = by.keys.filter((key) => !draft.get(key)?.includes(by.clientTxId));
      if (added.length === 0) return;
      const earlier = new Set(order.slice(0, order.indexOf(by.clientTxId)));
      for (const key of added) {
        const names = draft.get(key) ?? [];
        const isEarlier = (name: string) => earlier.has(name);
        draft.set(key, [...names.filter(isEarlier), by.clientTxId, ...names.filter((name) => !isEarlier(name))]);
      }
    }),
    confirmed: listed(queue.confirmed, isConfirmed(by)),
    waiting: listed(queue.waiting, waitsForPerson(by)),
  };
}
