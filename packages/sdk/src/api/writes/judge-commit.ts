import type { NewOperation } from "../../core/events.ts";
import { knownFailure } from "../../core/queue/known-failure.ts";
import { type Premise, utf8Length } from "../../core/queue/mutation.ts";
import type { ClientState } from "../../core/state.ts";
import { SyncError } from "../../errors.ts";
import { type CommitProblem, commitProblem, commitSizeProblem } from "../../protocol/commits/commit-problem.ts";
import { checkModel } from "./check-model.ts";
import { judgeWrite } from "./judge-write.ts";

/** Throws for a commit that the server would refuse, as far as the client can know it. */
export function judgeCommit(
  state: ClientState,
  operations: readonly NewOperation[],
  reads: readonly Premise[] = [],
): void {
  for (const operation of operations) judgeWrite(state, operation, operations.length === 1);
  refuse(commitProblem({ operations, reads }));
  for (const { group, model } of reads) if (group === undefined) checkModel(state.models, model);
  refuse(commitSizeProblem({ operations: operations.map(({ base: _, ...sent }) => sent), reads }, utf8Length));
}

function refuse(problem: CommitProblem | undefined): void {
  if (problem) throw new SyncError(knownFailure(problem.code, problem.message, { param: problem.param }));
}
