import type { CommitReceipt, StaleNotification } from "@holdfast/sdk/protocol";
import { errorSentences } from "@holdfast/sdk/protocol";
import type { Refusal } from "../refusal.ts";
import type { CommitRequest } from "./commit-request.ts";

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

/** A held commit wrote nothing. Its receipt lists what has changed, so that the author can decide again. */
export function heldReceipt(
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
    notifications: [...notifications],
  };
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
