import { planFor } from "../../core/conflicts/plan-decision.ts";
import type { Decision, NewOperation } from "../../core/events.ts";
import { localError } from "../../errors.ts";
import { checkCount, checked, checkOwner, type WriteDeps } from "./write.ts";
import type { OperationRequest, Write } from "./write-api.ts";

/** Applies a decision about a conflicted or rejected write, and returns the write that is sent because of it. */
export function makeDecision(deps: WriteDeps, clientTxId: string, id: string, decision: Decision): Write {
  if (deps.isClosed()) throw localError("client_closed", "The client is closed: it cannot resolve writes.");
  checkOwner(deps);
  const newTxId = deps.random.id();
  const { queued, receipt } = deps.waiters.add(newTxId);
  deps.engine.dispatch((state) => ({ type: "decided", plan: planFor(state, clientTxId, decision), newTxId }));
  return { id, clientTxId: newTxId, queued, receipt };
}

/** The operations of an edited write, validated like those of a new one. */
export function editedOperations(deps: WriteDeps, operations: readonly OperationRequest[]): readonly NewOperation[] {
  checkCount(operations);
  const edited = operations.map((o) => ({ ...checked(deps, o), onStale: "notify" as const }));
  deps.later()?.judgeCommit(deps.engine.store.getState(), { operations: edited });
  return edited;
}
