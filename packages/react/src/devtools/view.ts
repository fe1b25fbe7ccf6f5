import type { ErasedRecord, JsonObject, ModelSchema, PendingMutation, SyncClient, SyncStatus } from "@holdfast/sdk";

type Operations = PendingMutation["operations"];

/** The state of a client at one moment, as plain JSON that can be compared, stored and exported. */
export interface View {
  readonly status: Partial<SyncStatus>;
  readonly pending: readonly PendingMutation[];
  readonly conflicts: readonly SeenConflict[];
  readonly attention: readonly SeenRefusal[];
}

export interface SeenConflict {
  readonly clientTxId: string;
  readonly reason: string;
  readonly model: string;
  readonly id: string;
  readonly fields: readonly string[];
  readonly mine: JsonObject;
  readonly base: JsonObject;
  readonly theirs: JsonObject | null;
  readonly writtenBy: string;
}

export interface SeenRefusal {
  readonly clientTxId: string;
  readonly code: string;
  readonly message: string;
  readonly operations: Operations;
}

/** How many writes of a queue a view contains, because each event stores a view. `status.pending` counts all. */
export const SEEN_AT_MOST = 50;

export function viewOf<S extends ModelSchema>(client: SyncClient<S>): View {
  return {
    status: client.status(),
    pending: client.pending().slice(0, SEEN_AT_MOST),
    conflicts: client
      .conflicts()
      .slice(0, SEEN_AT_MOST)
      .map(({ clientTxId, reason, model, id, fields, mine, base, theirs, writtenBy }) => {
        return { clientTxId, reason, model, id, fields, mine, base, theirs, writtenBy };
      }),
    attention: client
      .attention()
      .slice(0, SEEN_AT_MOST)
      .map(({ clientTxId, code, error, operations }) => ({ clientTxId, code, message: error.message, operations })),
  };
}

/** The view without any value of a record. */
export function withoutErased(view: View, { model, id }: ErasedRecord): View {
  const isIt = (one: ErasedRecord) => one.id === id && one.model.toLowerCase() === model.toLowerCase();
  const inWrite = <W extends { readonly operations: Operations }>(write: W): W => ({
    ...write,
    operations: write.operations.map((o) => (isIt(o) ? { action: o.action, model: o.model, id } : o)),
  });
  return {
    ...view,
    pending: view.pending.map(inWrite),
    conflicts: view.conflicts.map((each) => (isIt(each) ? { ...each, mine: {}, base: {}, theirs: null } : each)),
    attention: view.attention.map(inWrite),
  };
}
