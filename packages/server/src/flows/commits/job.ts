import type { Share } from "../../limits/answer-bytes.ts";
import { type ClaimOrder, tenantOfOrder } from "../../rules/claims/claim-order.ts";
import type { CommitRequest } from "../../rules/commits/commit-request.ts";
import type { Judged } from "../../rules/commits/judge-commits.ts";
import type { SourceAnswer } from "../../rules/sources/source-answer.ts";
import type { SourceIntent } from "../../rules/sources/source-intent.ts";

/** The work of one request: one commit, or the commits of a bulk in order, or an order about claims. */
export type Job =
  | {
      readonly commits: readonly CommitRequest[];
      /** The results of its first commits, from earlier rounds: see rules/commits/commit-bytes.ts. */
      readonly judged?: readonly Judged[];
      readonly order?: undefined;
      /** Size of the request's body. */
      readonly bytes?: number;
      /** Counts the bytes of the receipts. */
      readonly answer?: Share | undefined;
      /** The commits say what has happened in an attached table: nothing refuses them, and they get no receipt. */
      readonly captured?: boolean;
      /** What to do with the job's only commit, whose records a source may have. */
      readonly source?: SourceStep;
    }
  | {
      readonly order: ClaimOrder;
      readonly commits?: undefined;
      readonly judged?: undefined;
      readonly bytes?: undefined;
      readonly answer?: undefined;
      readonly captured?: undefined;
      readonly source?: undefined;
    };

/** A commit becomes an intent with this id if it writes records of a source. Later the source's answer ends it. */
export type SourceStep = { readonly id: string } | { readonly intent: SourceIntent; readonly answer: SourceAnswer };

/** All commits of a job have the same tenant. */
export const tenantOf = ({ commits, order }: Job): number =>
  order === undefined ? (commits[0]?.principal.tenant ?? 0) : tenantOfOrder(order);

/** The token for the fair order. Jobs that a timer starts have none. */
export const tokenOf = (job: Job): string => principalOf(job)?.tokenId ?? "";

/** The commits that have not been judged yet. */
export const commitsOf = (jobs: readonly Job[]): CommitRequest[] =>
  jobs.flatMap(({ commits, judged }) => commits?.slice(judged?.length ?? 0) ?? []);

export const principalOf = ({ commits, order }: Job) =>
  commits ? commits[0]?.principal : order.kind === "advance" ? undefined : order.principal;
