import type { CommitReceipt } from "../protocol/commit.ts";
import { type Failure, knownFailure } from "./failure.ts";
import { type Mutation, type Place, placesOf } from "./mutation.ts";
import { changed, find, removed } from "./queue.ts";
import { drop, keep, set, type Turn, touch } from "./turn.ts";

/**
 * Takes out what the rows have reached. A confirmed write stays in the overlay until then: dropping it at its receipt
 * would show the old value until the stream catches up. Gives back the places on disk that are free now.
 */
export function settle(turn: Turn): readonly Place[] {
  const { queue, rows } = turn.state;
  const done: Mutation[] = [];
  const parked: Mutation[] = [];
  for (const name of queue.confirmed) {
    const mutation = find(queue, name);
    if (mutation?.stage.phase !== "confirmed" || !reached(mutation.stage.receipt, rows)) continue;
    const failure = missed(mutation, mutation.stage.receipt);
    if (failure) parked.push({ ...mutation, stage: { phase: "parked", failure } });
    else done.push(mutation);
  }
  if (done.length + parked.length === 0) return [];
  set(turn, { queue: changed(queue, parked) });
  // What is only concluded to be settled is believed if it is found on disk after all.
  const [concluded, told] = [done.filter(isConcluded), done.filter((m) => !isConcluded(m))];
  set(turn, { queue: removed(turn.state.queue, namesOf(concluded)) });
  drop(turn, namesOf(told));
  touch(
    turn,
    [...done, ...parked].flatMap((m) => m.keys),
  );
  keep(turn, parked);
  return placesOf(done);
}

/** No server has given this receipt: the tab that leads had the write no more. */
const isConcluded = ({ stage }: Mutation): boolean => stage.phase === "confirmed" && stage.receipt.serverTxId === "";

const namesOf = (mutations: readonly Mutation[]): readonly string[] => mutations.map((m) => m.clientTxId);

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
    knownFailure("record_not_found", "The record is gone: nothing was written.", {
      param: `${lost.model}/${lost.id}`,
      status: 200,
      receipt,
    })
  );
}
