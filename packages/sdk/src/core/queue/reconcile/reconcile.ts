import type { WhichRows } from "../../effects.ts";
import type { QueueSnapshot, ReceivedChange, SharedQueue } from "../../state.ts";
import type { QueueNumbers } from "../../tabs/tab-message.ts";
import type { Mutation, QueueChange } from "../mutation.ts";
import { find } from "../queue.ts";
import {
  emit,
  type QueueEffect,
  type QueueFacts,
  type QueueView,
  type Reconciliation,
  reload,
  update,
} from "./queue-view.ts";
import { isWhole, lastSeq } from "./seq-set.ts";
import { noteKnownElsewhere, takeArrived, takeChange } from "./take-changes.ts";
import { takeRefused, takeStored } from "./take-own.ts";
import { takeSnapshot } from "./take-snapshot.ts";

/*
 * All tabs of a browser profile share one queue on disk, which is the source of truth. Each tab appends its own writes,
 * the leader stores their outcomes, and any tab may store a person's decision. Each tab keeps a view of the queue in
 * memory. `reconcile` brings the view up to date with what the disk and the other tabs report.
 *
 * The disk numbers what it stores: a new write gets the next `seq`, every other change gets the next change number. A
 * tab that changed the queue posts the change with its number. Every tab applies the changes in the order of their
 * numbers; a change that arrives before its predecessors waits in `outOfOrder`. So a tab that has received all numbers
 * knows the queue as it is on disk, and only then the leader sends.
 *
 *   tab A ── seq 7 stored ──► arrived 7 ──────────────► tab B: seqs 1–7
 *   tab C ── change 3 stored, killed before it posts ─►
 *   tab A ── change 4 stored ──► changed 4 ───────────► tab B: 4 waits for 3; none comes; reload
 *
 * A message can be missing, because its tab was killed between the disk and the post, or was closed, or another tab was
 * not listening yet. There are three signs of that: a gap in the numbers, numbers of another tab that are higher,
 * and an announced write that does not arrive. If the missing message does not come within a moment, the tab reloads:
 * it reads a snapshot of the whole queue with its numbers, and takes that instead of its view. Two things are newer
 * than a snapshot and stay: writes that this tab is storing now, and changes that it made after the snapshot was read.
 * A snapshot that is older than the view is read again.
 */

export type QueueMessage =
  /** The disk has applied changes of this tab. The new writes have their `seq`. */
  | { readonly type: "stored"; readonly done: readonly QueueChange[]; readonly change: number | undefined }
  /** The disk has refused changes of this tab, because they came too late. */
  | { readonly type: "refused"; readonly refused: readonly QueueChange[] }
  /** Another tab has stored new writes. `asOf`: they were found in a snapshot with this change number. */
  | { readonly type: "arrived"; readonly mutations: readonly Mutation[]; readonly asOf?: number | undefined }
  /** The queue on disk was changed. */
  | ReceivedChange
  /** Another tab is storing these writes. It may be killed before it can report that they are on disk. */
  | { readonly type: "writing"; readonly clientTxIds: readonly string[] }
  /** Another tab knows this much of the queue. */
  | { readonly type: "numbers"; readonly numbers: QueueNumbers }
  /** The disk has answered a reload. Undefined: it failed since. */
  | { readonly type: "queueRead"; readonly snapshot: QueueSnapshot | undefined }
  /** The disk was read when this tab became the leader. */
  | { readonly type: "leadTaken"; readonly snapshot: QueueSnapshot }
  /** Another part of the client needs the stored queue, or the rows beside it. */
  | { readonly type: "reload"; readonly rows: WhichRows }
  /** Runs last in each step: reloads if a message is missing for too long. */
  | { readonly type: "due" };

/** Returns the next view, and the effects to perform. If nothing has changed, the view is the same object. */
export function reconcile(
  view: QueueView,
  message: QueueMessage,
  facts: QueueFacts,
): { readonly view: QueueView; readonly effects: readonly QueueEffect[] } {
  const r: Reconciliation = { view, facts, effects: [] };
  take(r, message);
  return r;
}

function take(r: Reconciliation, message: QueueMessage): void {
  switch (message.type) {
    case "stored":
      return takeStored(r, message.done, message.change);
    case "refused":
      return takeRefused(r, message.refused);
    case "arrived":
      return takeArrived(r, message.mutations, message.asOf);
    case "changed":
      return takeChange(r, message);
    case "writing":
      return announce(r, message.clientTxIds);
    case "numbers":
      return noteKnownElsewhere(r, message.numbers.lastSeq, message.numbers.changes);
    case "queueRead":
      update(r, { reloads: Math.max(0, r.view.reloads - 1) });
      if (message.snapshot) return takeSnapshot(r, message.snapshot);
      // The stored queue is out of reach, but the server may know the outcomes.
      return emit(r, { do: "lookUpOutcomes" });
    case "leadTaken":
      return takeSnapshot(r, message.snapshot);
    case "reload":
      return reload(r, message.rows);
    case "due":
      return reloadIfDue(r);
  }
}

/** Stands for writes that another tab announced before this one was listening. */
export const UNKNOWN_WRITES = "";

/** How long another tab may take to store the writes that it announced. */
const ANNOUNCED_MS = 2_000;
/** How many times the queue is reloaded to find writes that another tab announced. Each wait is five times as long. */
const RELOADS = 3;
/**
 * How long missing writes may still arrive before the queue is reloaded from disk. The leader sends nothing meanwhile.
 */
const LEADER_WAITS_MS = 50;
const FOLLOWER_WAITS_MS = 1_000;

function announce(r: Reconciliation, clientTxIds: readonly string[]): void {
  const news = clientTxIds.map((clientTxId) => ({ clientTxId, at: r.facts.now + ANNOUNCED_MS, reloads: 0 }));
  update(r, { announced: [...r.view.announced, ...news] });
}

function reloadIfDue(r: Reconciliation): void {
  const { view } = r;
  const { now, lead, storageTrouble } = r.facts;
  const wait = lead === "no" ? FOLLOWER_WAITS_MS : LEADER_WAITS_MS;
  const gapAt = isBehind(view) ? (view.gapAt ?? now + wait) : undefined;
  const due = view.announced.filter(({ at }) => at <= now);
  const missing = due.filter(({ clientTxId }) => !find(view.queue, clientTxId));
  const isMissing = lead === "yes" && missing.length > 0;
  const isLate = gapAt !== undefined && gapAt <= now;
  if (storageTrouble !== undefined || (due.length === 0 && !isLate && gapAt === view.gapAt)) return;
  const later = missing
    .filter(({ reloads }) => reloads + 1 < RELOADS)
    .map((each) => ({ ...each, reloads: each.reloads + 1, at: now + ANNOUNCED_MS * 5 ** (each.reloads + 1) }));
  const announced = due.length > 0 ? [...view.announced.filter(({ at }) => at > now), ...later] : view.announced;
  update(r, { announced, gapAt: isLate ? undefined : gapAt });
  if ((isMissing || isLate) && view.reloads === 0) reload(r);
}

/** Whether the stored queue may contain writes or changes that this view lacks. */
export const isBehind = ({ seqs, changes, outOfOrder, knownElsewhere }: SharedQueue): boolean =>
  outOfOrder.length > 0 || !isWhole(seqs) || knownElsewhere.lastSeq > lastSeq(seqs) || knownElsewhere.changes > changes;

/** Whether a message may be missing by now. */
export const mayReload = (shared: SharedQueue, now: number): boolean =>
  shared.gapAt !== undefined || isBehind(shared) || shared.announced.some(({ at }) => at <= now);

/** When to reload the queue from disk if nothing else happens first. */
export function reloadDueAt({ gapAt, announced }: SharedQueue): number | undefined {
  const times = [...(gapAt === undefined ? [] : [gapAt]), ...announced.map(({ at }) => at)];
  return times.length > 0 ? Math.min(...times) : undefined;
}
