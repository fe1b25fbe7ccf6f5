import { currentStage } from "../../core/queue/current-stage.ts";
import { type Mutation, serialized } from "../../core/queue/mutation.ts";
import { inOrder } from "../../core/queue/queue.ts";
import { adapted } from "../../core/schema/upcast.ts";
import type { ClientState } from "../../core/state.ts";
import { localError } from "../../errors.ts";

/** All unsettled writes of a queue, as JSON: for a file, for support, or for another device. */
export interface PendingExport {
  readonly object: "holdfast_pending";
  readonly version: 1;
  readonly clientId: string;
  /** The schema hash of the exporting app. */
  readonly schema: string;
  /** Milliseconds since 1970. */
  readonly exportedAt: number;
  /** In the order in which they are sent. `stage` shows the outcome of writes that wait for a person. */
  readonly writes: readonly Mutation[];
}

export const exportPending = (state: ClientState, exportedAt: number): PendingExport => ({
  object: "holdfast_pending",
  version: 1,
  clientId: state.clientId,
  schema: state.schemaHash,
  exportedAt,
  // A deep copy that shares nothing with the queue. It includes writes that are being stored.
  writes: JSON.parse(JSON.stringify([...inOrder(state.queue)].filter((m) => m.stage.phase !== "confirmed"))),
});

/** The writes of an export under their own names, so that the server does not commit one twice. */
export function readExport(state: ClientState, exported: unknown): readonly Mutation[] {
  const { object, version, writes } = (exported ?? {}) as Partial<Record<keyof PendingExport, unknown>>;
  if (object !== "holdfast_pending" || version !== 1 || !Array.isArray(writes) || !writes.every(isWrite))
    throw localError("invalid_export", "This is not a result of exportPending, or a newer version made it.");
  return writes
    .filter((write) => !state.queue.byTxId.get(write.clientTxId))
    .map((write) => {
      const found = currentStage(write.stage);
      const stage = found.phase === "conflicted" || found.phase === "rejected" ? found : ({ phase: "saving" } as const);
      const taken: Mutation = { ...write, seq: undefined, attempts: 0, echoed: [], stage };
      // A write that was exported before it was serialized is serialized now.
      return adapted(taken.body === "" ? serialized(taken, state.clientId, state.rows) : taken, state);
    });
}

function isFieldChange(change: unknown): boolean {
  if (typeof change !== "object" || change === null) return false;
  const { increment, add = [], remove = [] } = change as Record<string, unknown>;
  return typeof increment === "number" || (increment === undefined && Array.isArray(add) && Array.isArray(remove));
}

const isWrite = (write: unknown): write is Mutation => {
  const { clientTxId, operations, reads, body, createdAt, keys, stage } = (write ?? {}) as Partial<Mutation>;
  return (
    typeof clientTxId === "string" &&
    typeof body === "string" &&
    typeof createdAt === "number" &&
    typeof stage?.phase === "string" &&
    Array.isArray(reads) &&
    Array.isArray(keys) &&
    Array.isArray(operations) &&
    operations.every(
      ({ model, id, action, changes = {} }) =>
        [model, id, action].every((each) => typeof each === "string") && Object.values(changes).every(isFieldChange),
    )
  );
};
