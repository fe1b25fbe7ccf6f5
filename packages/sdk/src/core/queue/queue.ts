import { PersistentMap } from "../log/persistent-map.ts";
import { type Mutation, waitsForPerson } from "./mutation.ts";

/** All unsettled writes of this client, in the order in which they were stored. */
export interface Queue {
  readonly byTxId: PersistentMap<Mutation>;
  /** Names in queue order: by `seq`; writes that are not on disk yet come last. */
  readonly order: readonly string[];
  /** Record key → names of the writes that touch it, in queue order. */
  readonly byRecord: PersistentMap<readonly string[]>;
  /** Confirmed writes that the rows have not reached. A short list, so that settling does not walk the queue. */
  readonly confirmed: readonly string[];
  /** Writes that wait for a person: conflicted or rejected. */
  readonly waiting: readonly string[];
  readonly lastSeq: number;
}

export const emptyQueue: Queue = {
  byTxId: PersistentMap.empty(),
  order: [],
  byRecord: PersistentMap.empty(),
  confirmed: [],
  waiting: [],
  lastSeq: 0,
};

export const find = (queue: Queue, clientTxId: string): Mutation | undefined => queue.byTxId.get(clientTxId);

export function* inOrder(queue: Queue): Generator<Mutation> {
  for (const clientTxId of queue.order) {
    const mutation = queue.byTxId.get(clientTxId);
    if (mutation) yield mutation;
  }
}

/** The writes that wait for a person. */
export const waitingWrites = (queue: Queue): readonly Mutation[] =>
  queue.waiting.map((name) => find(queue, name)).filter((m) => m !== undefined);

/** The writes that touch a record, oldest first. */
export const onRecord = (queue: Queue, key: string): readonly Mutation[] => [...eachOnRecord(queue, key)];

/** The same, lazily, for callers that may stop early. */
export function* eachOnRecord(queue: Queue, key: string): Generator<Mutation> {
  for (const name of queue.byRecord.get(key) ?? []) {
    const mutation = queue.byTxId.get(name);
    if (mutation) yield mutation;
  }
}

/** Adds new writes at the end, or in the order of their `seq`. */
export function withMutations(queue: Queue, mutations: readonly Mutation[]): Queue {
  if (mutations.length === 0) return queue;
  const next: Queue = {
    ...queue,
    byTxId: queue.byTxId.edit((draft) => {
      for (const m of mutations) draft.set(m.clientTxId, m);
    }),
    // Spread syntax would make a list of half as much again, which is most of what a write allocates in a long queue.
    order: queue.order.concat(mutations.map((m) => m.clientTxId)),
    byRecord: queue.byRecord.edit((draft) => {
      for (const m of mutations) for (const key of m.keys) draft.set(key, (draft.get(key) ?? []).concat(m.clientTxId));
    }),
    confirmed: relisted(queue.confirmed, queue, mutations, isConfirmed),
    waiting: relisted(queue.waiting, queue, mutations, waitsForPerson),
  };
  return placed(next, queue, mutations);
}

/** Returns the same list if nothing is removed. */
export const kept = (list: readonly string[], stays: (name: string) => boolean): readonly string[] =>
  list.every(stays) ? list : list.filter(stays);

/** Updates a list of names after some writes changed: new members are appended, former members are removed. */
export function relisted(
  list: readonly string[],
  before: Queue,
  mutations: readonly Mutation[],
  belongs: (m: Mutation) => boolean,
): readonly string[] {
  const news: string[] = [];
  const left = new Set<string>();
  for (const m of mutations) {
    const known = find(before, m.clientTxId);
    const was = known !== undefined && belongs(known);
    if (belongs(m) && !was) news.push(m.clientTxId);
    if (!belongs(m) && was) left.add(m.clientTxId);
  }
  const stay = kept(list, (name) => !left.has(name));
  return news.length === 0 ? stay : [...stay, ...news];
}

export const isConfirmed = (m: Mutation) => m.stage.phase === "confirmed";

/**
 * Keeps the queue in order. New writes usually belong at the end and nothing moves. Only if two tabs write at the same
 * time can an earlier `seq` arrive late; then the queue is sorted once.
 */
export function placed(next: Queue, before: Queue, news: readonly Mutation[]): Queue {
  const seqs = news.map((m) => m.seq).filter((seq) => seq !== undefined);
  if (seqs.length === 0) return next;
  const lastSeq = Math.max(before.lastSeq, ...seqs);
  const unsaved = before.byTxId.size > 0 && news.some((m) => !before.byTxId.has(m.clientTxId)) && hasUnsaved(before);
  if (!unsaved && seqs.every((seq, i) => seq > (i === 0 ? before.lastSeq : (seqs[i - 1] ?? 0))))
    return { ...next, lastSeq };
  const seqOf = (name: string) => find(next, name)?.seq ?? Number.POSITIVE_INFINITY;
  const bySeq = (a: string, b: string) => compare(seqOf(a), seqOf(b));
  return {
    ...next,
    lastSeq,
    order: next.order.slice().sort(bySeq),
    byRecord: next.byRecord.edit((draft) => {
      for (const [key, names] of next.byRecord.entries())
        if (names.length > 1) draft.set(key, names.slice().sort(bySeq));
    }),
  };
}

const hasUnsaved = (queue: Queue) => {
  const last = queue.order.at(-1);
  return last !== undefined && find(queue, last)?.seq === undefined;
};

/** Two writes that are not on disk are both Infinity: equal, so that a stable sort keeps their order. */
const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
