import { localFailure } from "./failure.ts";

/** Why the promises of a write reject that a person dropped. */
export const DISCARDED = localFailure(
  "discarded",
  "The write was dropped: its conflict was resolved with takeTheirs, or it was discarded.",
);

/** Why the promises of a decision reject that nothing is left of. */
export const TOO_LATE = localFailure(
  "discarded",
  "The write has already left the queue: it has settled, or another tab has resolved it.",
);
