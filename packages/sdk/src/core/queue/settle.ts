import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import { isWithinReach } from "../conflicts/unfollowed.ts";
import { type Draft, emit, keep, set, touch } from "../draft.ts";
import type { Rows } from "../log/rows.ts";
import { recordKey } from "../log/tables.ts";
import type { ClientState, QueueState } from "../state.ts";
import type { Failure } from "./failure.ts";
import { knownFailure } from "./known-failure.ts";
import { HIDDEN, withLost } from "./last-values.ts";
import type { Mutation, Removed } from "./mutation.ts";
import { eachOnRecord, find } from "./queue.ts";
import { withChanged, withoutMutations } from "./queue-changes.ts";

/**
 * Removes the writes that the rows have reached, and returns what may be deleted from disk. A confirmed write stays in
 * the overlay until then: removing it at its receipt would show the old value until the stream catches up.
 */
export function settle(draft: Draft): readonly Removed[] {
  const { queue, rows } = draft.state;
  const done: Mutation[] = [];
  const rejected: Mutation[] = [];
  for (const name of queue.confirmed) {
    const mutation = find(queue, name);
    if (mutation?.stage.phase !== "confirmed" || !reached(mutation.stage.receipt, rows)) continue;
    if (!isNext(draft.state, mutation)) continue;
    const failure = missingRecordFailure(mutation, mutation.stage.receipt);
    if (failure) rejected.push({ ...mutation, stage: { phase: "rejected", failure } });
    else done.push(mutation);
  }
  if (done.length + rejected.length === 0) return [];
  set<QueueState>(draft, { queue: withChanged(queue, rejected) });
  set<QueueState>(draft, {
    queue: withoutMutations(
      draft.state.queue,
      done.map((m) => m.clientTxId),
    ),
  });
  touch(
    draft,
    [...done, ...rejected].flatMap((m) => m.keys),
  );
  keep(draft, rejected);
  hideLeft(draft, done);
  const removed = done.flatMap(removedOf);
  const { shared, storageTrouble } = draft.state;
  if (storageTrouble === undefined)
    set<QueueState>(draft, { shared: { ...shared, settled: [...shared.settled, ...removed] } });
  return removed;
}

/**
 * Hides the records of settled writes that are not loaded any more: the last values that later writes have lack what the
 * log has by now.
 */
function hideLeft(draft: Draft, done: readonly Mutation[]): void {
  const left = new Map(done.flatMap((write) => keysOfLost(write).map((key) => [key, write] as const)));
  const hidden = new Map<string, Mutation>();
  for (const [key, write] of left) {
    if (isWithinReach(draft.state, key, [write])) continue;
    for (const { clientTxId } of eachOnRecord(draft.state.queue, key)) {
      const later = hidden.get(clientTxId) ?? find(draft.state.queue, clientTxId);
      if (later && later.lost?.[key] !== HIDDEN)
        hidden.set(clientTxId, withLost(later, key, { data: HIDDEN, archivedAt: null }));
    }
  }
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, [...hidden.values()]) });
  keep(draft, [...hidden.values()]);
}

const keysOfLost = ({ keys, lost }: Mutation): readonly string[] => (lost ? keys.filter((key) => lost[key]) : []);

/** Settles writes and frees their slots on disk. */
export function settleAll(draft: Draft): void {
  const settled = settle(draft);
  const { generation, rows } = draft.state;
  const { logId, position } = rows;
  if (settled.length === 0 || generation === undefined || logId === undefined || position === undefined) return;
  // Delete the writes only together with storing the rows that contain them. A crash between the two would show old
  // values.
  emit(draft, { do: "keepRows", logId, from: position, to: position, changes: [], settled, generation });
}

const removedOf = ({ clientTxId, seq, stage }: Mutation): readonly Removed[] =>
  seq === undefined || stage.phase !== "confirmed" ? [] : [{ clientTxId, seq, receipt: stage.receipt }];

/**
 * Whether all earlier writes to its records have outcomes too. A new leader may know the outcome of a later write
 * before that of an earlier one. If the later write left the disk first, a reload would show the earlier one on top.
 */
const isNext = (state: ClientState, m: Mutation): boolean =>
  knowsBefore(state, m) &&
  m.keys.every((key) => {
    for (const { clientTxId, stage } of eachOnRecord(state.queue, key)) {
      if (clientTxId === m.clientTxId) return true;
      if (stage.phase !== "confirmed" && !isStopped(stage)) return false;
    }
    return true;
  });

/** An unknown slot may contain an earlier write to the same record. Found later, it would be shown on top. */
const knowsBefore = ({ shared, storageTrouble }: ClientState, { seq = 0 }: Mutation): boolean =>
  storageTrouble !== undefined || seq <= shared.seqs.upTo + 1;

const isStopped = ({ phase }: Mutation["stage"]): boolean => phase === "conflicted" || phase === "rejected";

/** Whether the rows contain what was confirmed. */
export function reached(receipt: CommitReceipt, rows: Pick<Rows, "logId" | "position">): boolean {
  if (receipt.lastSyncId === undefined) return true;
  if (rows.position === undefined) return false;
  return (receipt.logId ?? rows.logId) === rows.logId && receipt.lastSyncId <= rows.position;
}

/** A write to a missing record has no effect, so it must not appear as saved. Deleting a missing record succeeds. */
export function missingRecordFailure(mutation: Mutation, receipt: CommitReceipt): Failure | undefined {
  const missing = new Set(receipt.missingIds);
  const { operations } = mutation;
  const lost = operations.find(
    (o, at) =>
      o.action !== "delete" &&
      o.action !== "create" &&
      missing.has(o.id) &&
      // Only the delete before a create may have found nothing. What is deleted or created afterwards needs no record.
      !operations.some(
        (other, i) =>
          recordKey(other) === recordKey(o) && (other.action === "create" || (i > at && other.action === "delete")),
      ),
  );
  return (
    lost &&
    knownFailure("record_not_found", "The record does not exist: nothing was written.", {
      param: `${lost.model}/${lost.id}`,
      status: 200,
      receipt,
    })
  );
}
