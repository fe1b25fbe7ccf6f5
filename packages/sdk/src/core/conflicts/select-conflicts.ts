import type { Failure } from "../queue/failure.ts";
import type { Mutation } from "../queue/mutation.ts";
import { waitingWrites } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";
import { type OpenConflict, openConflictsOf } from "./conflict.ts";

/* Selectors: read the conflicted and the rejected writes from the state. The API makes objects with methods of them. */

export const selectConflicts = (state: ClientState): readonly OpenConflict[] =>
  waitingWrites(state.queue).flatMap((conflicted) => openConflictsOf(state, conflicted));

/** Rejected writes, each with its failure in its stage. */
export const selectRejected = (
  state: ClientState,
): readonly (Mutation & { stage: { phase: "rejected"; failure: Failure } })[] =>
  waitingWrites(state.queue).filter(
    (m): m is Mutation & { stage: { phase: "rejected"; failure: Failure } } => m.stage.phase === "rejected",
  );
