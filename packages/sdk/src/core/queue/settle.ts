import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import { ask, type Draft, keep, set, touch } from "../draft.ts";
import type { ClientState } from "../state.ts";
import { type Failure, knownFailure } from "./failure.ts";
import type { Mutation, Removed } from "./mutation.ts";
import { eachOnRecord, find, withChanged, withoutMutations } from "./queue.ts";

/**
 * Takes out what the rows have reached. A confirmed write stays in the overlay until then: dropping it at its receipt
 * would show the old value until the stream catches up. Gives back what may leave the disk now.
 */
export function settle(draft: Draft): readonly Removed[] {
  const { queue, rows } = draft.state;
  const done: Mutation[] = [];
  const parked: Mutation[] = [];
  for (const name of queue.confirmed) {
    const mutation = find(queue, name);
    if (mutation?.stage.phase !== "confirmed" || !reached(mutation.stage.receipt, rows)) continue;
    if (!isNext(draft.state, mutation)) continue;
    const failure = missed(mutation, mutation.stage.receipt);
    if (failure) parked.push({ ...mutation, stage: { phase: "parked", failure } });
    else done.push(mutation);
  }
  if (done.length + parked.length === 0) return [];
  set(draft, { queue: withChanged(queue, parked) });
  set(draft, {
    queue: withoutMutations(
      draft.state.queue,
      done.map((m) => m.clientTxId),
    ),
  });
  touch(
    draft,
    [...done, ...parked].flatMap((m) => m.keys),
  );
  keep(draft, parked);
  const gone = done.flatMap(goneOf);
  const { shared, storageTrouble } = draft.state;
  if (storageTrouble === undefined) set(draft, { shared: { ...shared, settled: [...shared.settled, ...gone] } });
  return gone;
}

/** Settles, and frees the places on disk of what is settled. */
export function settleAll(draft: Draft): void {
  const settled = settle(draft);
  const { generation, rows } = draft.state;
  const { logId, position } = rows;
  if (settled.length === 0 || generation === undefined || logId === undefined || position === undefined) return;
  // Not before the rows that contain them are on disk too: else a crash between the two would show the old values.
  ask(draft, { do: "keepRows", logId, from: position, to: position, changes: [], settled, generation });
}

const goneOf = ({ clientTxId, seq, stage }: Mutation): readonly Removed[] =>
  seq === undefined || stage.phase !== "confirmed" ? [] : [{ clientTxId, seq, receipt: stage.receipt }];

/**
 * Whether what was written to its records before has its answer too. A tab that has just begun to lead may know the answer
 * to a later write and not yet that to an earlier one: if the later one left first, who reads the disk then would see the earlier on top.
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

/** A place that this tab has not heard of may hold an earlier write to the same record: found later, it would be shown on top. */
const knowsBefore = ({ shared, storageTrouble }: ClientState, { seq = 0 }: Mutation): boolean =>
  storageTrouble !== undefined || seq <= shared.places.upTo + 1;

const isStopped = ({ phase }: Mutation["stage"]): boolean => phase === "held" || phase === "parked";

function reached(receipt: CommitReceipt, rows: { logId: string | undefined; position: number | undefined }): boolean {
  if (receipt.lastSyncId === undefined) return true;
  if (rows.position === undefined) return false;
  return (receipt.logId ?? rows.logId) === rows.logId && receipt.lastSyncId <= rows.position;
}

/** A write to a record that is not there writes nothing. It is not shown as saved. Deleting what is gone is done. */
export function missed(mutation: Mutation, receipt: CommitReceipt): Failure | undefined {
  const missing = new Set(receipt.missingIds);
  const lost = mutation.operations.find((o) => o.action !== "delete" && o.action !== "create" && missing.has(o.id));
  return (
    lost &&
    knownFailure("record_not_found", "The record does not exist: nothing was written.", {
      param: `${lost.model}/${lost.id}`,
      status: 200,
      receipt,
    })
  );
}
