import type { News } from "../../effects.ts";
import { TOO_LATE } from "../discarded.ts";
import { localFailure } from "../failure.ts";
import type { ExpectedSlot, Mutation, QueueChange } from "../mutation.ts";
import { find } from "../queue.ts";
import { withChanged, withoutMutations } from "../queue-changes.ts";
import {
  emit,
  giveUp,
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
import { notifyReplaced, takeChange } from "./take-changes.ts";

/** The disk has applied changes of this tab. */
export function takeStored(r: Reconciliation, done: readonly QueueChange[], change: number | undefined): void {
  endDropping(r, done);
  const put = done.flatMap((each) => each.put);
  const saved = put.flatMap(({ mutation: { clientTxId, seq } }) => {
    const write = find(r.view.queue, clientTxId);
    return write && (write.stage.phase === "saving" || write.seq === undefined) ? [withSeq(write, seq)] : [];
  });
  update(r, { queue: withChanged(r.view.queue, saved) });
  for (const { mutation, over } of put) {
    const { clientTxId } = mutation;
    const isRenamed = over !== undefined && over.clientTxId !== clientTxId;
    if (isRenamed) notifyReplaced(r, over, clientTxId);
    notify(r, clientTxId, durability(r.facts));
    if (isRenamed) notifyEarlyOutcome(r, clientTxId);
  }
  const removed = done.flatMap((each) => each.drop);
  for (const { clientTxId } of removed) giveUp(r, clientTxId);
  noteSeqs(
    r,
    put.map(({ mutation: { seq = 0 } }) => seq),
  );
  if (change !== undefined) takeChange(r, { type: "changed", change, put, removed, isOwn: true });
  emit(r, { do: "offerFromOtherLog", writes: saved });
  // Of records whose part was dropped meanwhile, those on disk lack the last values.
  const lostOnDisk = new Map(put.map(({ mutation: { clientTxId, lost } }) => [clientTxId, lost]));
  emit(r, { do: "keep", writes: saved.filter(({ clientTxId, lost }) => lost !== lostOnDisk.get(clientTxId)) });
}

/** The disk has refused changes of this tab, because they came too late. */
export function takeRefused(r: Reconciliation, refused: readonly QueueChange[]): void {
  endDropping(r, refused);
  for (const { mutation, over } of refused.flatMap((each) => each.put)) takeBack(r, mutation, over);
  reload(r);
}

function endDropping(r: Reconciliation, changes: readonly QueueChange[]): void {
  const ended = changes.filter(({ drop }) => drop.length > 0).length;
  update(r, { dropping: Math.max(0, r.view.dropping - ended) });
}

/**
 * Reverts a write that did not get its slot. If only its text was to change, the stored version stays. If not even that,
 * it stays as it is until the disk is read: it may be gone because rows have it that this tab does not know yet.
 */
function takeBack(r: Reconciliation, mutation: Mutation, over: ExpectedSlot | undefined): void {
  const { clientTxId } = mutation;
  if (over?.clientTxId !== clientTxId) {
    notify(r, clientTxId, { kind: "not-durable", failure: TOO_LATE });
    return giveUp(r, clientTxId, TOO_LATE);
  }
  if (find(r.view.queue, clientTxId)?.stage.phase !== "saving") return;
  touch(r, [mutation]);
  update(r, { queue: withoutMutations(r.view.queue, [clientTxId]) });
}

const durability = ({ storageTrouble }: QueueFacts): News =>
  storageTrouble === undefined
    ? { kind: "queued" }
    : { kind: "not-durable", failure: localFailure("storage_failed", storageTrouble.reason) };

/** Reports an outcome that arrived under the new name before callers could wait for it. */
function notifyEarlyOutcome(r: Reconciliation, clientTxId: string): void {
  const write = find(r.view.queue, clientTxId);
  if (write) notifyOutcome(r, write);
  else emit(r, { do: "lookUpOutcomes" });
}
