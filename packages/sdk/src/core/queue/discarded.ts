import { localFailure } from "./failure.ts";

/** Why the promises of a write reject that a person dropped. */
export const DISCARDED = localFailure(
  "discarded",
  "The write was dropped: its conflict was resolved with takeTheirs, or it was discarded.",
);
