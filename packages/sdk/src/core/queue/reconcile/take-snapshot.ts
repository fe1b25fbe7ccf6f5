import type { QueueSnapshot } from "../../state.ts";
import type { Mutation, Removed } from "../mutation.ts";
import { find, inOrder } from "../queue.ts";
import { withChanged, withoutMutations } from "../queue-changes.ts";
import { reached } from "../settle.ts";
import { emit, isOnItsWay, type QueueView, type Reconciliation, reload, touch, update } from "./queue-view.ts";
import { seqSetUpTo, withSeqs } from "./seq-set.ts";
import { addFound, ownWithSeq, type Stored, takeAgain, takeInOrder, takePut } from "./take-changes.ts";

/**
 * Replaces what this tab knows of the queue by the snapshot, except for writes that this tab is storing now, and what
 * it stored after the snapshot was read. A snapshot that is older than the changes known here is read again.
 */
export function takeSnapshot(r: Reconciliation, snapshot: QueueSnapshot): void {
  const before = r.view;
  if (snapshot.changes < before.changes) return reload(r);
  const bySeq = new Map(snapshot.mutations.map((m) => [m.seq, m]));
  const own = [...inOrder(before.queue)];
  const onTheirWay = new Set([...own.filter(isOnItsWay), ...changedSince(before, snapshot)].map(({ seq }) => seq));
  const removed: Mutation[] = [];
  const again: Stored[] = [];
  for (const m of own) {
    if (m.seq === undefined || m.seq > snapshot.lastSeq || onTheirWay.has(m.seq)) continue;
    const found = bySeq.get(m.seq);
    if (found?.clientTxId === m.clientTxId) again.push({ own: m, found });
    else if (found && !find(r.view.queue, found.clientTxId))
      takePut(r, { mutation: found, over: { clientTxId: m.clientTxId, seq: m.seq, phase: "queued" } });
    else removed.push(m);
  }
  takeAgain(r, again);
  touch(r, removed);
  update(r, {
    queue: withoutMutations(
      r.view.queue,
      removed.map((m) => m.clientTxId),
    ),
  });
  const left = before.settled.filter(({ seq, clientTxId }) => bySeq.get(seq)?.clientTxId === clientTxId);
  const settled = left.filter(({ receipt }) => !receipt || reached(receipt, r.facts.rows));
  takeFound(r, withoutSettled(snapshot.mutations, left, settled), onTheirWay);
  // Writes that were stored after the snapshot are known too.
  const since = [...before.seqs.ahead, ...own.map(({ seq = 0 }) => seq)].filter((seq) => seq > snapshot.lastSeq);
  update(r, { seqs: withSeqs(seqSetUpTo(snapshot.lastSeq), since), changes: snapshot.changes, settled });
  takeInOrder(r);
  emit(r, { do: "lookUpOutcomes" });
}

/**
 * Leaves out the writes that this tab has settled and that are still on disk. If it has taken rows from disk since that
 * lack some of them (`withAhead`), those are confirmed and not settled: they leave the disk with the rows that have them.
 */
function withoutSettled(
  mutations: readonly Mutation[],
  left: readonly Removed[],
  settled: readonly Removed[],
): readonly Mutation[] {
  if (left.length === 0) return mutations;
  const isSettled = new Set(settled.map(({ seq }) => seq));
  const receipts = new Map(left.map(({ seq, receipt }) => [seq, receipt]));
  return mutations.flatMap((m): readonly Mutation[] => {
    const { seq = 0 } = m;
    if (isSettled.has(seq)) return [];
    const receipt = receipts.get(seq);
    return [receipt ? { ...m, stage: { phase: "confirmed", receipt } } : m];
  });
}

/** The slots that this tab has changed since the snapshot. */
const changedSince = ({ outOfOrder }: QueueView, { changes }: QueueSnapshot) =>
  outOfOrder.flatMap(({ change, put, removed, isOwn }) =>
    isOwn && change > changes ? [...put.map(({ mutation }) => mutation), ...removed] : [],
  );

/** Adds the writes that this tab did not know. A write that was stored just now is known by its name only. */
function takeFound(
  r: Reconciliation,
  mutations: readonly Mutation[],
  onTheirWay: ReadonlySet<number | undefined>,
): void {
  const { queue } = r.view;
  const own = ownWithSeq(r, mutations);
  update(r, { queue: withChanged(queue, own) });
  addFound(
    r,
    mutations.filter((m) => !find(queue, m.clientTxId) && !onTheirWay.has(m.seq)),
  );
  emit(r, { do: "offerFromOtherLog", writes: own });
}
