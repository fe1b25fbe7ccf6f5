import { recordKey, writerOf } from "../../../kernel/commits/rules/commit-request.ts";
import { proposes } from "../../../kernel/commits/rules/proposes.ts";
import { isRepeated } from "../../../kernel/commits/rules/replay.ts";
import type { RoundModule } from "../../../kernel/commits/rules/tenant-state.ts";
import { type ClaimsState, claimsOf } from "./claims-state.ts";
import { guardWrite } from "./guard-write.ts";
import { advanceClaims } from "./judge-claim.ts";

/** The claims of a tenant in one round: they guard writes, and end with their records. */
export const claimsRound = (known: ClaimsState): RoundModule & ClaimsState => ({ ...known, judge, applied });

const judge: Required<RoundModule>["judge"] = (state, commit, operation) => {
  const queue = claimsOf(state).queues.get(recordKey(operation.model, operation.id)) ?? [];
  const isBound = operation.claim !== undefined || operation.fenceToken !== undefined;
  if (!isBound && queue.length === 0) return undefined;
  // A proposal needs no claim, and none stops it: that is judged when it is accepted.
  if (proposes(commit)) return undefined;
  if (isRepeated(state, commit, operation)) return undefined;
  const declaredName = state.models.get(operation.model)?.name ?? operation.model;
  return guardWrite(queue, writerOf(commit).writtenBy, operation, { declaredName, now: Date.parse(state.now) });
};

const applied: Required<RoundModule>["applied"] = (state, { model, id, after }) => {
  if (after === null) advanceClaims(state, recordKey(model, id));
};
