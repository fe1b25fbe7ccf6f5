import { type CommitOperation, type CommitRequest, namesOf, operationKeyName } from "./commit-request.ts";
import { participantName } from "./participant.ts";
import { type Refusal, refuse } from "./refusal.ts";
import { receiptKey, type StoredReceipt, type WorldState } from "./world-state.ts";

export type Replay =
  | { readonly kind: "replayed"; readonly receipt: StoredReceipt }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Same key, same body → the same receipt. Same key, anything else → a conflict. */
export function replayOf(state: WorldState, commit: CommitRequest): Replay | undefined {
  const participant = participantName(commit.principal.participantKind, commit.principal.participantId);
  for (const [position, name] of namesOf(commit).entries()) {
    const stored = state.receipts.get(receiptKey(participant, name));
    if (!stored) continue;
    // A stored name that is not this commit's key belongs to another commit of that clientTxId.
    if (position === 0 && stored.fingerprint === commit.fingerprint) return { kind: "replayed", receipt: stored };
    return {
      kind: "refused",
      refusal: refuse("idempotency_conflict", {
        param: position === 0 && commit.idempotencyKey !== undefined ? "idempotencyKey" : "clientTxId",
      }),
    };
  }
  for (const [index, operation] of commit.operations.entries()) {
    if (operation.idempotencyKey === undefined) continue;
    const stored = state.receipts.get(receiptKey(participant, operationKeyName(operation.idempotencyKey)));
    if (stored && stored.fingerprint !== operation.fingerprint)
      return {
        kind: "refused",
        refusal: refuse("idempotency_conflict", {
          param: commit.single ? "idempotencyKey" : `operations[${index}].idempotencyKey`,
        }),
      };
  }
  return undefined;
}

/** The same operation under its own key was done before: it counts, and does nothing. */
export const isRepeated = (state: WorldState, commit: CommitRequest, operation: CommitOperation): boolean =>
  operation.idempotencyKey !== undefined &&
  state.receipts.has(
    receiptKey(
      participantName(commit.principal.participantKind, commit.principal.participantId),
      operationKeyName(operation.idempotencyKey),
    ),
  );
