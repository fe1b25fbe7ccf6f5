import { type Draft, emit, keep, set, touch } from "../draft.ts";
import type { WhichRows } from "../effects.ts";
import type { ClientEvent } from "../events.ts";
import type { ClientState } from "../state.ts";
import type { QueueNumbers } from "../tabs/tab-message.ts";
import { isFromOtherLog, offerAgain } from "./offer-again.ts";
import { find } from "./queue.ts";
import type { QueueEffect } from "./reconcile/queue-view.ts";
import { isBehind, type QueueMessage, reconcile } from "./reconcile/reconcile.ts";
import { lastSeq } from "./reconcile/seq-set.ts";
import { settleAll } from "./settle.ts";

/* The queue that all tabs share, as a part of the client's state. `reconcile.ts` explains and decides. */

/** Brings this tab's view of the queue up to date. */
export function reconcileQueue(draft: Draft, message: QueueMessage): void {
  const { queue, shared, rows, tabs, lead, storageTrouble } = draft.state;
  const before = { ...shared, queue };
  const facts = { now: draft.now, lead, storageTrouble, rows, logged: tabs.logged };
  const { view, effects } = reconcile(before, message, facts);
  if (view !== before) {
    const { queue: next, ...rest } = view;
    set(draft, { queue: next, shared: rest });
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
