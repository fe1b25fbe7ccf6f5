import { operationsOf } from "./captured-commit.ts";
import { type CommitOperation, type CommitRequest, recordKey, rowAction } from "./commit-request.ts";
import { entriesOf } from "./dry-run.ts";
import { type CommitOutcome, confirmedReceipt } from "./receipt.ts";
import type { RecordChange } from "./record-change.ts";
import type { Decision, TenantState } from "./tenant-state.ts";

/** The decision about a commit that has happened elsewhere: its entries say what was made of it there. */
export function confirmedAsLeft(
  state: TenantState,
  commit: CommitRequest,
  changes: readonly RecordChange[],
  { missingIds, madeId }: Pick<CommitOutcome, "missingIds" | "madeId">,
): Decision {
  const entries = entriesOf(state, writtenCommit(commit, changes));
  const { logId, syncId } = state.head;
  const lastSyncId = entries.at(-1)?.syncId ?? syncId;
  return {
    kind: "confirmed",
    entries,
    receipt: confirmedReceipt(commit, { lastSyncId, logId, missingIds, madeId }),
  };
}

/**
 * A commit as it was taken elsewhere: the last operation on each row has what it left there, with what defaults and triggers
 * made of it. What triggers and foreign keys changed besides comes after; a change that an operation has already, changes
 * nothing.
 */
export function writtenCommit(commit: CommitRequest, changes: readonly RecordChange[]): CommitRequest {
  const left = new Map(changes.map((change) => [recordKey(change.model, change.id), change]));
  const last = new Map(
    commit.operations.flatMap((operation) => (writesRow(operation) ? [[keyOf(operation), operation] as const] : [])),
  );
  const operations = commit.operations.map((operation): CommitOperation => {
    const change = left.get(keyOf(operation));
    if (!change) return operation;
    if (!writesRow(operation))
      return operation.action === "archive" && change.archivedAt
        ? { ...operation, archivedAt: change.archivedAt }
        : operation;
    const isLast = last.get(keyOf(operation)) === operation;
    if (!isLast) return operation;
    const { changes: _, ...rest } = operation;
    return { ...rest, ...asLeft(rest, change), happened: true };
  });
  return { ...commit, operations: [...operations, ...changes.flatMap(operationsOf)] };
}

const keyOf = ({ model, id }: CommitOperation): string => recordKey(model, id);

const writesRow = ({ action }: CommitOperation): boolean => action !== "archive" && action !== "unarchive";

function asLeft(
  { action }: CommitOperation,
  { data, unreadable }: RecordChange,
): Pick<CommitOperation, "action" | "data" | "unreadable"> {
  if (data === null) return { action: rowAction(action) === "delete" ? action : "delete" };
  return { action: action === "create" ? "create" : "update", data, ...(unreadable !== undefined && { unreadable }) };
}
