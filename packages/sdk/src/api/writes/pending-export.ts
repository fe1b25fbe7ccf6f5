import { OWNER_UNKNOWN, ownerOfTab } from "../../core/connection/owner-name.ts";
import { isSameOwner } from "../../core/connection/same-owner.ts";
import type { Mutation } from "../../core/queue/mutation.ts";
import { inOrder } from "../../core/queue/queue.ts";
import { serialized } from "../../core/queue/serialized.ts";
import { adapted } from "../../core/schema/upcast.ts";
import type { ClientState } from "../../core/state.ts";
import { localError } from "../../errors.ts";

/** All unsettled writes of a queue, as JSON: for a file, for support, or for another device. */
export interface PendingExport {
  readonly object: "holdfast_pending";
  readonly version: 1;
  readonly clientId: string;
  /**
   * Whose writes these are: `<organization>/<live|test>/<kind>/<participant>`, with `*` for an environment that only the
   * server knows. null: not known.
   */
  readonly owner: string | null;
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
  owner: ownerOf(state) ?? null,
  schema: state.schemaHash,
  exportedAt,
  // A deep copy that shares nothing with the queue. It includes writes that are being stored.
  writes: JSON.parse(
    JSON.stringify(
      [...inOrder(state.queue)]
        .filter((m) => m.stage.phase !== "confirmed")
        .map((m) => ({ ...m, owner: m.owner ?? firstOwner(state) })),
    ),
  ),
});

/** Whose the writes are that were made before the client knew its owner. null: that was not seen, or several have used the store. */
const firstOwner = ({ owner, others }: ClientState): string | null => (others ? null : (owner ?? null));

/** Whose writes are in the queue. */
const ownerOf = (state: ClientState): string | undefined => state.owner ?? ownerOfTab(state);

/**
 * The writes of an export under their own names, so that the server does not commit one twice. With `adopt`, they become
 * this client's, no matter who made them.
 */
export function readExport(
  state: ClientState,
  exported: unknown,
  { adopt = false }: { readonly adopt?: boolean | undefined } = {},
): readonly Mutation[] {
  if (state.withheld) throw localError("not_owner", state.withheldReason ?? OWNER_UNKNOWN);
  const { object, version, owner, writes } = (exported ?? {}) as Partial<Record<keyof PendingExport, unknown>>;
  if (object !== "holdfast_pending" || version !== 1 || !Array.isArray(writes) || !writes.every(isWrite))
    throw localError(
      "invalid_export",
      "This is not an export of exportPending(), or a newer version of the SDK made it.",
    );
  const mine = ownerOf(state);
  const theirs = typeof owner === "string" ? owner : undefined;
  if (!adopt && mine !== undefined && theirs !== undefined && !isSameOwner(mine, theirs))
    throw localError(
      "other_owner",
      `The export belongs to ${theirs}, but this client belongs to ${mine}. To import its writes as writes of ${mine}, pass { adopt: true }.`,
    );
  if (!adopt && writes.some((write) => typeof write.owner !== "string"))
    throw localError(
      "other_owner",
      "The export does not name an owner, because the client that made it did not know its owner. To import its writes as this client's own, pass { adopt: true }.",
    );
  return writes
    .filter((write) => !state.queue.byTxId.get(write.clientTxId))
    .map((write) => {
      const found = write.stage;
      const stage = found.phase === "conflicted" || found.phase === "rejected" ? found : ({ phase: "saving" } as const);
      const taken: Mutation = {
        ...write,
        owner: adopt ? (mine ?? null) : write.owner,
        seq: undefined,
        attempts: 0,
        unsent: undefined,
        echoed: [],
        stage,
      };
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
  const {
    clientTxId,
    operations,
    reads,
    body,
    createdAt,
    madeAt = 0,
    keys,
    stage,
  } = (write ?? {}) as Partial<Mutation>;
  return (
    typeof clientTxId === "string" &&
    typeof body === "string" &&
    typeof createdAt === "number" &&
    typeof madeAt === "number" &&
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
