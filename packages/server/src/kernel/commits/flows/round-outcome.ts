import type { Judged } from "../rules/judge-commits.ts";
import type { Job } from "./job.ts";

/** The result of one job. */
export type JobOutcome =
  /** May have fewer commits than the job: the rest waits for a later round. */
  | {
      readonly commits: readonly Judged[];
      /** The next commit waits for a row that another transaction has locked. */
      readonly isLocked?: boolean;
      readonly answer?: undefined;
    }
  /** What a module has decided: the answer to its question, or how it goes on with a commit. */
  | { readonly answer: unknown; readonly commits?: undefined }
  /** A module takes the tenant's commits, and judges them in steps of its own. */
  | { readonly takenBy: string; readonly commits?: undefined; readonly answer?: undefined };

/** `runBy`: the module that runs the tenant's rounds itself. */
export type RoundOutcome = JobOutcome | { readonly runBy: string };

/** The commits that this round judged: earlier rounds may have judged the first ones. */
export const judgedNow = ({ judged }: Job, outcome: RoundOutcome | undefined): readonly Judged[] =>
  outcome === undefined || "runBy" in outcome ? [] : (outcome.commits?.slice(judged?.length ?? 0) ?? []);

/** Whether every commit of the job has been judged. */
export const isComplete = ({ commits }: Job, outcome: JobOutcome): boolean =>
  outcome.commits === undefined || commits?.length === outcome.commits.length;

/** Drop the written entries, and the values that the receipt's text has too: they are no longer needed and may be large. */
export function withoutValues(judged: Judged): Judged {
  const { decision } = judged;
  switch (decision.kind) {
    case "confirmed":
    case "proposed":
      return { ...judged, decision: { ...decision, entries: [] } };
    case "conflicted":
      return { ...judged, decision: { ...decision, receipt: { ...decision.receipt, notifications: [] } } };
    case "replayed":
    case "refused":
      return judged;
  }
}
