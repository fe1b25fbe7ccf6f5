import type { News } from "../../effects.ts";
import type { ReceivedChange } from "../../state.ts";
import type { QueueChanged } from "../../tabs/tab-message.ts";
import { DISCARDED } from "../discarded.ts";
import { notificationsIn } from "../erased.ts";
import { type ExpectedSlot, lastingPhase, type Mutation, type Put, type Removed } from "../mutation.ts";
import { find, inOrder, type Queue, withMutations } from "../queue.ts";
import { withChanged, withReplaced } from "../queue-changes.ts";
import {
  emit,
  giveUp,
  isOnItsWay,
  noteSeqs,
  notify,
  notifyOutcome,
  type QueueFacts,
  type Reconciliation,
  reload,
  touch,
  update,
  withSeq,
} from "./queue-view.ts";
import { hasSeq } from "./seq-set.ts";

/** Another tab has stored new writes. */
export function takeArrived(r: Reconciliation, mutations: readonly Mutation[], asOf = Number.POSITIVE_INFINITY): void {
  const { queue, seqs, reloads, changes } = r.view;
  const unknown = mutations.filter((m) => !find(queue, m.clientTxId) && !hasSeq(seqs, m.seq ?? 0));
  // During a reload, ignore them: this reload or the next one finds them, together with later changes. If `asOf` is
  // older than a change that is known here, the writes may have changed since.
  const isUsable = reloads === 0 && asOf >= changes;
  const added = isUsable ? unknown : [];
  addFound(r, added);
  const own = ownWithSeq(r, mutations);
  update(r, { queue: withChanged(r.view.queue, own) });
  endAnnounced(r, mutations);
  const numbers = mutations.map((m) => m.seq ?? 0);
  if (added.length === unknown.length) noteSeqs(r, numbers);
  else noteKnownElsewhere(r, Math.max(...numbers), 0);
  emit(r, { do: "offerFromOtherLog", writes: [...added, ...own] });
  // Another tab dropped a part while it was storing a write to it.
  emit(r, { do: "keep", writes: added.filter(({ lost }) => lost) });
  // Confirmed writes may have waited for one of these `seq` numbers.
  emit(r, { do: "settle" });
}

/** Writes of this tab that got their `seq` on disk before this tab learned of it. */
export const ownWithSeq = ({ view: { queue } }: Reconciliation, mutations: readonly Mutation[]): readonly Mutation[] =>
  mutations.flatMap((m) => {
    const own = find(queue, m.clientTxId);
    return own && own.seq === undefined ? [withSeq(own, m.seq)] : [];
  });

/** Adds writes found on disk. If the log contained one before this tab learned of it, the rows include it already. */
export function addFound(r: Reconciliation, mutations: readonly Mutation[]): void {
  const inRows = new Set(r.view.logged);
  const found = mutations.map((m) => ({ ...m, echoed: inRows.has(m.clientTxId) ? m.keys : [] }));
  update(r, { queue: withMutations(r.view.queue, found) });
  touch(r, found);
  for (const m of found) notifyOutcome(r, m);
}

function endAnnounced(r: Reconciliation, mutations: readonly Mutation[]): void {
  if (r.view.announced.length === 0) return;
  const names = new Set(mutations.map((m) => m.clientTxId));
  update(r, { announced: r.view.announced.filter((each) => !names.has(each.clientTxId)) });
}

/** Another tab knows this much of the queue. */
export function noteKnownElsewhere(r: Reconciliation, lastSeq: number, changes: number): void {
  const { knownElsewhere: before } = r.view;
  const knownElsewhere = { lastSeq: Math.max(before.lastSeq, lastSeq), changes: Math.max(before.changes, changes) };
  update(r, { knownElsewhere });
}

/** The queue on disk was changed. Changes are applied in order: one that arrives before its predecessors waits. */
export function takeChange(r: Reconciliation, change: ReceivedChange): void {
  if (change.change <= r.view.changes) return;
  update(r, { outOfOrder: [...r.view.outOfOrder, change] });
  takeInOrder(r);
  emit(r, { do: "settle" });
}

export function takeInOrder(r: Reconciliation): void {
  for (;;) {
    const { outOfOrder, changes } = r.view;
    const next = outOfOrder.find(({ change }) => change === changes + 1);
    const rest = outOfOrder.filter(({ change }) => change > changes + 1);
    update(r, { outOfOrder: rest, changes: next ? next.change : changes });
    if (!next) return;
    take(r, next);
  }
}

function take(r: Reconciliation, { put, removed }: QueueChanged): void {
  for (const each of put) takePut(r, each);
  for (const each of removed) takeRemoved(r, each);
  endAnnounced(
    r,
    put.map(({ mutation }) => mutation),
  );
  const freed = new Set(removed.map(({ seq }) => seq));
  if (freed.size > 0) update(r, { settled: r.view.settled.filter(({ seq }) => !freed.has(seq)) });
  noteSeqs(r, [...freed]);
}

export function takePut(r: Reconciliation, { mutation, over }: Put): void {
  const own = find(r.view.queue, over?.clientTxId ?? mutation.clientTxId);
  if (!own) return takeUnknown(r, mutation);
  if (isOnItsWay(own)) return;
  if (own.clientTxId === mutation.clientTxId) return takeAgain(r, [{ own, found: mutation }]);
  touch(r, [own, mutation]);
  update(r, { queue: withReplaced(r.view.queue, own.clientTxId, mutation) });
  notifyReplaced(r, over ?? { ...own, seq: 0, phase: lastingPhase(own.stage) }, mutation.clientTxId);
}

/** A write continues under another name. If it was waiting for a person, it ended with the decision. */
export function notifyReplaced(r: Reconciliation, { clientTxId, phase }: ExpectedSlot, to: string): void {
  const news: News = phase === "queued" ? { kind: "renamed", to } : { kind: "failed", failure: DISCARDED };
  notify(r, clientTxId, news);
}

/**
 * The tab that stored the write has not posted it yet. If its `seq` is known, the write has already left the queue. If
 * its slot has another write, this tab is storing a replacement.
 */
function takeUnknown(r: Reconciliation, m: Mutation): void {
  if (m.seq === undefined || hasSeq(r.view.seqs, m.seq) || isTaken(r.view.queue, m.seq)) return;
  addFound(r, [m]);
  noteSeqs(r, [m.seq]);
}

/** Walks the queue, because the numbers after a gap are forgotten during a reload. */
function isTaken(queue: Queue, slot: number): boolean {
  for (const { seq } of inOrder(queue)) if (seq === slot) return true;
  return false;
}

/** A write of this tab's view, and its stored version. */
export interface Stored {
  readonly own: Mutation;
  readonly found: Mutation;
}

/** Takes the stored versions of known writes, and keeps what this tab has learned about them. */
export function takeAgain(r: Reconciliation, both: readonly Stored[]): void {
  const changed = both.filter((each) => !isSame(each));
  touch(
    r,
    changed.filter((each) => !showsSame(each)).flatMap(({ own, found }) => [own, found]),
  );
  update(r, {
    queue: withChanged(
      r.view.queue,
      changed.map((each) => merged(each, r.facts)),
    ),
  });
  for (const { own, found } of both) if (isUndecided(own)) notifyOutcome(r, found);
}

/** In a long queue, most writes are unchanged. */
const isSame = ({ own, found }: Stored): boolean =>
  showsSame({ own, found }) && own.unsent === found.unsent && own.createdAt === found.createdAt;

const showsSame = ({ own, found }: Stored): boolean =>
  own.stage.phase === "queued" && found.stage.phase === "queued" && own.body === found.body && own.lost === found.lost;

const isUndecided = ({ stage }: Mutation): boolean =>
  stage.phase === "queued" ||
  stage.phase === "saving" ||
  (stage.phase === "rejected" && stage.failure.code === "schema_changed");

/**
 * A record that is gone may have been erased, or only be loaded no more: the leader knows, and what it has kept or
 * removed of its values is in the stored write.
 */
function merged({ own, found }: Stored, { lead }: QueueFacts): Mutation {
  const { echoed, echoedAt, attempts, stage } = own;
  const isForgotten = lead !== "yes" && hasForgotten(own, found);
  const inMemory = own.lost && !isForgotten ? own : undefined;
  const onDisk = found.lost ? found : undefined;
  const from = lead === "yes" ? (inMemory ?? onDisk) : (onDisk ?? inMemory);
  return {
    ...found,
    ...{ echoed, echoedAt, attempts },
    // A leader that was replaced before it could store that it was about to send has not sent.
    unsent: lead === "reading" ? found.unsent : own.unsent && found.unsent,
    // The time of a write that was sent stands. One that was not, this tab may have moved along with the clock.
    createdAt: own.unsent && !found.unsent ? found.createdAt : own.createdAt,
    unmovedAt: own.unmovedAt,
    madeAt: own.madeAt ?? found.madeAt,
    stage: isUndecided(own) || (isForgotten && found.stage.phase === stage.phase) ? found.stage : stage,
    lost: from?.lost,
    archived: from?.archived,
  };
}

/** Whether the stored write lacks values of others that this tab still has. */
const hasForgotten = (own: Mutation, found: Mutation): boolean =>
  own.operations.some(({ base }, at) => base !== null && found.operations[at]?.base === null) ||
  notificationsIn(own.stage).some(({ currentValues = {} }, at) => {
    const { currentValues: stored = {} } = notificationsIn(found.stage)[at] ?? {};
    return Object.keys(currentValues).length > 0 && Object.keys(stored).length === 0;
  });

function takeRemoved(r: Reconciliation, { clientTxId, receipt }: Removed): void {
  const own = find(r.view.queue, clientTxId);
  if (!own || isOnItsWay(own)) return;
  // With a receipt, the write stays visible until the rows here have read as far as those of the tab that settled it.
  if (!receipt) return giveUp(r, clientTxId);
  touch(r, [own]);
  const settled: Mutation = { ...own, stage: { phase: "confirmed", receipt } };
  update(r, { queue: withChanged(r.view.queue, [settled]) });
  notifyOutcome(r, settled);
  // It was settled in another log. Only the disk shows which of the two logs is current.
  const { logId } = r.facts.rows;
  if ((receipt.logId ?? logId) !== logId) reload(r, "all");
}
