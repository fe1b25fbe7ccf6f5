import type { NewOperation } from "../../core/events.ts";
import { tableOf } from "../../core/log/tables.ts";
import type { Asks } from "../../core/queue/asks.ts";
import { knownFailure } from "../../core/queue/known-failure.ts";
import type { Premise } from "../../core/queue/mutation.ts";
import { sentOf, utf8Length } from "../../core/queue/serialized.ts";
import type { ClientState } from "../../core/state.ts";
import { SyncError } from "../../errors.ts";
import { proposeProblem } from "../../protocol/changes/propose-problem.ts";
import type { Attribution } from "../../protocol/commits/attribution-of.ts";
import { attributionProblem } from "../../protocol/commits/attribution-problem.ts";
import {
  type CommitProblem,
  commitProblem,
  commitSizeProblem,
  recordSizeProblem,
} from "../../protocol/commits/commit-problem.ts";
import { checkModel } from "./check-model.ts";
import { judgeWrite } from "./judge-write.ts";
import { operationProblem } from "./operation-problem.ts";

export interface JudgedCommit {
  readonly operations: readonly NewOperation[];
  readonly reads?: readonly Premise[];
  readonly attribution?: Attribution | undefined;
  readonly asks?: Asks | undefined;
}

/** Throws for a commit that the server would refuse, as far as the client can know it. */
export function judgeCommit(
  state: ClientState,
  { operations, reads = [], attribution = {}, asks }: JudgedCommit,
): void {
  for (const operation of operations) {
    const model = state.models[tableOf(operation.model)];
    refuse(model && operationProblem(model, operation));
    judgeWrite(state, operation, operations.length === 1);
    const { id, data } = operation;
    // The record has at least these values then, so the server refuses it whatever else is in it.
    if (data && state.recordBytes)
      refuse(recordSizeProblem(JSON.stringify({ id, ...data }), state.recordBytes, utf8Length));
  }
  refuse(commitProblem({ operations, reads }));
  refuse(attributionProblem(attribution, utf8Length));
  refuse(attributionProblem({ reason: asks?.decide?.reason }, utf8Length));
  refuse(proposeProblem(asks?.propose));
  for (const { group, model } of reads) if (group === undefined) checkModel(state.models, model);
  refuse(commitSizeProblem({ operations: operations.map(sentOf), reads, attribution, ...asks }, utf8Length));
}

function refuse(problem: CommitProblem | undefined): void {
  if (problem) throw new SyncError(knownFailure(problem.code, problem.message, { param: problem.param }));
}
