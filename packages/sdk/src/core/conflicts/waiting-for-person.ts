import type { Failure } from "../queue/failure.ts";
import type { Mutation } from "../queue/mutation.ts";
import { waitingWrites } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";
import { type OpenConflict, openConflictsOf } from "./conflict.ts";

/* Selectors of the writes that wait for a person. */

export const conflictsOf = (state: ClientState): readonly OpenConflict[] =>
  waitingWrites(state.queue).flatMap((conflicted) => openConflictsOf(state, conflicted));

/** Rejected writes, each with its failure in its stage. */
export const rejectedOf = (
  state: ClientState,
): readonly (Mutation & { stage: { phase: "rejected"; failure: Failure } })[] =>
  waitingWrites(state.queue).filter(
    (m): m is Mutation & { stage: { phase: "rejected"; failure: Failure } } => m.stage.phase === "rejected",
  );
