import type { LockedHead } from "../../db/commits/heads.ts";
import type { Expectation } from "../../db/commits/save-creates.ts";
import type { Round, SavedEntry } from "../../db/commits/save-round.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import type { Statement } from "../../db/connection/statement.ts";
import type { ClaimDecision } from "../../rules/claims/decide-claim.ts";
import type { Judged } from "../../rules/commits/judge-commits.ts";
import type { SourceIntent } from "../../rules/sources/source-intent.ts";
import type { LiveSchema } from "../schema/schema-cache.ts";
import type { Job } from "./job.ts";

/** The result of one job. */
export type RoundOutcome =
  /** May have fewer commits than the job: the rest waits for a later round. */
  | {
      readonly commits: readonly Judged[];
      /** The next commit waits for a row that another transaction has locked. */
      readonly isLocked?: boolean;
      readonly claim?: undefined;
    }
  | { readonly claim: ClaimOutcome; readonly commits?: undefined }
  /** The commit may happen, if its source takes it. */
  | { readonly intent: SourceIntent; readonly commits?: undefined; readonly claim?: undefined }
  /** Models of the tenant have sources, so each of its commits has to be a job with a `source`; or none has. */
  | { readonly hasSources: boolean; readonly commits?: undefined; readonly claim?: undefined };

/** "has tables": the tenant has attached tables, which this round cannot write. */
export type RoundAnswer = RoundOutcome | "has tables";

export interface ClaimOutcome {
  readonly decision: ClaimDecision;
  /** The model's name as declared. */
  readonly declaredName: string;
  /** The database's time of the decision, in milliseconds since 1970. */
  readonly now: number;
}

/** The entries that a round appended to one tenant's log, in order: (from, to]. */
export interface CommittedBatch {
  readonly tenant: number;
  readonly from: number;
  readonly to: number;
  readonly entries: readonly SavedEntry[];
  /** The schema that the commits were judged by. */
  readonly schema: LiveSchema;
}

/** What was taken from the caller's own tables and appended to a tenant's log. */
export interface Drained {
  readonly from: number;
  readonly to: number;
  /** Claims of deleted records ended. */
  readonly claimsChanged: boolean;
}

export interface RoundResult {
  /** In the order of the jobs. */
  readonly outcomes: readonly RoundAnswer[];
  readonly batches: readonly CommittedBatch[];
  /** The tenants whose claims changed. */
  readonly claimTenants: readonly number[];
  /** What `save` has to write. */
  readonly round: Round;
  readonly claims: readonly Statement<void>[];
  /** The values of unique fields and of checked references. */
  readonly values: readonly Statement<void>[];
  /** Commits on their way to their sources: those that begin, and those that end. */
  readonly intents: readonly Statement<void>[];
  /** The tenants' heads after the round. */
  readonly heads: readonly LockedHead[];
  /** What the round took from the tables of the caller's first. */
  readonly drained?: Drained;
  /** Only for a round that was judged without a load: what it assumed. */
  readonly expected?: Expectation;
  /** The connection whose transaction holds the locks. */
  readonly pipe: Pipe;
}

/** The commits that this round judged: earlier rounds may have judged the first ones. */
export const judgedNow = ({ judged }: Job, outcome: RoundAnswer | undefined): readonly Judged[] =>
  outcome === undefined || outcome === "has tables" ? [] : (outcome.commits?.slice(judged?.length ?? 0) ?? []);

/** Whether every commit of the job has been judged. */
export const isComplete = ({ commits }: Job, outcome: RoundOutcome): boolean =>
  "intent" in outcome || "hasSources" in outcome || commits?.length === outcome.commits?.length;
