import { canOf, may } from "../../tokens/rules/scope.ts";
import type { CommitRequest } from "./commit-request.ts";

/** Whether the commit only asks: its author says so, or its token may not write some of it, and may propose that. */
export const proposes = ({ propose, decides, operations, principal: { scope } }: CommitRequest): boolean =>
  decides === undefined &&
  (propose !== undefined ||
    (scope !== undefined &&
      operations.some(({ action, model }) => !may(scope, model, canOf(action)) && may(scope, model, "propose"))));

/** The id of the proposal that it becomes. */
export const proposalIdOf = ({ serverTxId }: Pick<CommitRequest, "serverTxId">): string =>
  serverTxId.replace(/^stx_/, "prop_");
