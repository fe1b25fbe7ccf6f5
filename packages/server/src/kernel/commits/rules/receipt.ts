import type { CommitReceipt, StaleNotification } from "@holdfast/sdk/protocol";
import { errorSentences, limits } from "@holdfast/sdk/protocol";
import type { Refusal } from "../../refusal.ts";
import { bytesInUtf8 } from "./check-record-size.ts";
import type { CommitRequest } from "./commit-request.ts";
import { proposalIdOf } from "./proposes.ts";

export interface CommitOutcome {
  readonly lastSyncId: number;
  readonly logId: string;
  readonly missingIds: readonly string[];
  /** The first id that the server generated. */
  readonly madeId: string | undefined;
}

export function confirmedReceipt(
  commit: CommitRequest,
  { lastSyncId, logId, missingIds, madeId }: CommitOutcome,
): CommitReceipt {
  return {
    object: "commit_receipt",
    clientTxId: commit.clientTxId,
    serverTxId: commit.serverTxId,
    success: true,
    status: "confirmed",
    lastSyncId,
    logId,
    ops: commit.operations.length,
    ...(missingIds.length > 0 && { missingIds: [...missingIds] }),
    ...(madeId !== undefined && { id: madeId }),
  };
}

/** It is a proposal: nothing is written until it is accepted. */
export const proposedReceipt = (
  commit: CommitRequest,
  { syncId, logId }: { readonly syncId: number; readonly logId: string },
): CommitReceipt => ({
  object: "commit_receipt",
  clientTxId: commit.clientTxId,
  serverTxId: commit.serverTxId,
  success: false,
  status: "proposed",
  proposal: proposalIdOf(commit),
  lastSyncId: syncId,
  logId,
  ops: commit.operations.length,
});

/**
 * A conflicted commit wrote nothing. Its receipt lists what has changed, so that the author can decide again. Current values
 * that do not fit are left out: a commit of a few kilobytes can name many large records.
 */
export function conflictedReceipt(
  commit: CommitRequest,
  logId: string,
  lastSyncId: number,
  notifications: readonly StaleNotification[],
): CommitReceipt {
  return {
    ...rejected(commit, { code: "stale_context" }),
    lastSyncId,
    logId,
    ops: commit.operations.length,
    notifications: withinBytes(notifications, limits.currentValuesBytes),
  };
}

function withinBytes(notifications: readonly StaleNotification[], most: number): StaleNotification[] {
  let bytes = 0;
  return notifications.map(({ currentValues = {}, ...rest }) => {
    const own = bytesInUtf8(JSON.stringify(currentValues));
    if (bytes + own > most) return { ...rest, currentValuesOmitted: true };
    bytes += own;
    return { ...rest, currentValues };
  });
}

/** The receipt inside the error envelope of a refused commit. */
export const rejectedReceipt = (commit: CommitRequest, refusal: Refusal): CommitReceipt => rejected(commit, refusal);

const rejected = (commit: CommitRequest, refusal: Refusal): CommitReceipt => ({
  object: "commit_receipt",
  clientTxId: commit.clientTxId,
  serverTxId: commit.serverTxId,
  success: false,
  status: "rejected",
  error: {
    code: refusal.code,
    message: refusal.message ?? errorSentences[refusal.code],
    ...(refusal.param !== undefined && { field: refusal.param }),
    ...(refusal.requiredCapability !== undefined && { requiredCapability: refusal.requiredCapability }),
  },
});
