import { type Draft, emit, keep, set, touch } from "../draft.ts";
import type { WhichRows } from "../effects.ts";
import type { ClientEvent } from "../events.ts";
import type { ClientState, QueueSnapshot, QueueState, StorageTrouble } from "../state.ts";
import type { QueueNumbers } from "../tabs/tab-message.ts";
import { doubtUnsent } from "./age.ts";
import { localFailure } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import { isFromOtherLog, offerAgain } from "./offer-again.ts";
import { emptyQueue, find, inOrder, withMutations } from "./queue.ts";
import type { QueueEffect } from "./reconcile/queue-view.ts";
import { isBehind, mayReload, type QueueMessage, reconcile } from "./reconcile/reconcile.ts";
import { lastSeq, seqSetUpTo } from "./reconcile/seq-set.ts";
import { settleAll } from "./settle.ts";

/* The queue that all tabs share, as a part of the client's state. `reconcile.ts` explains and decides. */

/** The writes of the store, with the numbers that say how much of the queue they are. */
export function restoreQueue(
  draft: Draft,
  stored: readonly Mutation[],
  { changes, lastSeq }: Omit<QueueSnapshot, "rows">,
): void {
  const shared = { ...draft.state.shared, changes, seqs: seqSetUpTo(lastSeq) };
  set<QueueState>(draft, { queue: withMutations(emptyQueue, stored), shared });
}

/** The disk failed. Writes continue in memory, and the app is notified that they do not survive a reload. */
export function onDiskFailed(draft: Draft, { reason }: Pick<StorageTrouble, "reason">): void {
  doubtUnsent(draft);
  const failure = localFailure("storage_failed", reason);
  for (const { clientTxId, stage } of inOrder(draft.state.queue))
    if (stage.phase === "saving") emit(draft, { do: "notify", clientTxId, news: { kind: "not-durable", failure } });
}

/** This tab may have been suspended while another one led: it reads the disk before it sends anything. */
export function onWoke(draft: Draft): void {
  if (draft.state.lead === "yes") reloadQueue(draft);
}

/** Brings this tab's view of the queue up to date. */
export function reconcileQueue(draft: Draft, message: QueueMessage): void {
  const { queue, shared, rows, lead, storageTrouble } = draft.state;
  const before = { ...shared, queue };
  const facts = { now: draft.now, lead, storageTrouble, rows };
  const { view, effects } = reconcile(before, message, facts);
  if (view !== before) {
    const { queue: next, ...rest } = view;
    set<QueueState>(draft, { queue: next, shared: rest });
  }
  for (const effect of effects) perform(draft, effect);
}

function perform(draft: Draft, effect: QueueEffect): void {
  switch (effect.do) {
    case "touch":
      return touch(draft, effect.keys);
    case "settle":
      return settleAll(draft);
    case "offerFromOtherLog":
      return offerFromOtherLog(draft, effect);
    case "keep":
      return keep(
        draft,
        effect.writes.flatMap(({ clientTxId }) => find(draft.state.queue, clientTxId) ?? []),
      );
    case "notify":
    case "readQueue":
    case "lookUpOutcomes":
      return emit(draft, effect);
  }
}

/** Offers writes again that were made with positions of another log than the leader's. */
function offerFromOtherLog(draft: Draft, { writes }: Extract<QueueEffect, { do: "offerFromOtherLog" }>): void {
  const { rows, generation } = draft.state;
  if (generation === undefined || rows.position === undefined) return;
  if (writes.some((m) => isFromOtherLog(m, rows))) offerAgain(draft, rows, "from-other-log");
}

export function onPersisted(
  draft: Draft,
  { done, refused, change }: Extract<ClientEvent, { type: "persisted" }>,
): void {
  reconcileQueue(draft, { type: "stored", done, change });
  if (refused.length > 0) reconcileQueue(draft, { type: "refused", refused });
}

/** Reloads the queue from disk if a message of another tab is missing for too long. */
export function reloadIfDue(draft: Draft): void {
  if (mayReload(draft.state.shared, draft.now)) reconcileQueue(draft, { type: "due" });
}

/** Reloads the queue from disk. */
export const reloadQueue = (draft: Draft, rows: WhichRows = "further"): void =>
  reconcileQueue(draft, { type: "reload", rows });

/** Whether this tab knows all writes before any that it may send. Only then may it send. */
export const knowsQueue = ({ shared, storageTrouble }: ClientState): boolean =>
  storageTrouble !== undefined || (shared.reloads === 0 && shared.dropping === 0 && !isBehind(shared));

export const queueNumbersOf = ({ shared: { seqs, changes } }: ClientState): QueueNumbers => ({
  lastSeq: lastSeq(seqs),
  changes,
});
