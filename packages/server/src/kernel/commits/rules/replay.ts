import { operationParam } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import { nameOf } from "../../tokens/rules/participant.ts";
import { type CommitOperation, type CommitRequest, namesOf, operationKeyName, writerOf } from "./commit-request.ts";
import { receiptKey, type StoredReceipt, type TenantState } from "./tenant-state.ts";

export type Replay =
  | { readonly kind: "replayed"; readonly receipt: StoredReceipt }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Same key and same body: the same receipt. Same key and anything else: a conflict. */
export function replayOf(state: TenantState, commit: CommitRequest): Replay | undefined {
  const { writtenBy: participant } = writerOf(commit);
  for (const [position, name] of namesOf(commit).entries()) {
    const stored = state.receipts.get(receiptKey(participant, name));
    if (!stored) continue;
    // A stored name that is not this commit's key belongs to another commit with that clientTxId.
    if (position === 0 && stored.fingerprint === commit.fingerprint) return { kind: "replayed", receipt: stored };
    return {
      kind: "refused",
      refusal: refuse("idempotency_conflict", {
        param: position === 0 && commit.idempotencyKey !== undefined ? "idempotencyKey" : "clientTxId",
      }),
    };
  }
  for (const [index, operation] of commit.operations.entries()) {
    const { idempotencyKey } = operation;
    if (idempotencyKey === undefined) continue;
    const stored = state.receipts.get(receiptKey(participant, operationKeyName(idempotencyKey)));
    const { fingerprint } = stored ?? firstUnder(commit, idempotencyKey) ?? operation;
    if (fingerprint !== operation.fingerprint)
      return {
        kind: "refused",
        refusal: refuse("idempotency_conflict", {
          param: commit.single ? "idempotencyKey" : operationParam(index, "idempotencyKey"),
        }),
      };
  }
  return undefined;
}

const firstUnder = ({ operations }: CommitRequest, key: string): CommitOperation | undefined =>
  operations.find(({ idempotencyKey }) => idempotencyKey === key);

/**
 * Whether an operation with this key is already done, by an earlier commit or earlier in this one. It counts, but
 * writes nothing.
 */
export function isRepeated(state: TenantState, commit: CommitRequest, operation: CommitOperation): boolean {
  const { idempotencyKey } = operation;
  if (idempotencyKey === undefined) return false;
  return (
    firstUnder(commit, idempotencyKey) !== operation ||
    state.receipts.has(receiptKey(nameOf(commit.principal), operationKeyName(idempotencyKey)))
  );
}
