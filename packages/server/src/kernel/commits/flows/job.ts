import type { Share } from "../../limits/answer-bytes.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import type { AnswerRoom } from "../rules/answer-room.ts";
import type { CommitRequest } from "../rules/commit-request.ts";
import type { Judged } from "../rules/judge-commits.ts";
import type { TenantState } from "../rules/tenant-state.ts";

/** A question to a module, which it decides in its turn among the commits of the tenant. */
export interface Ask<Answer = unknown> {
  readonly module: string;
  readonly tenant: number;
  /** Undefined: a timer asks. */
  readonly principal: Principal | undefined;
  /** The record that it is about. */
  readonly model: string;
  readonly record: string;
  decide(state: TenantState): Answer;
}

/** The work of one request: one commit, or the commits of a bulk in order, or a question to a module. */
export type Job =
  | {
      readonly commits: readonly CommitRequest[];
      /** The results of its first commits, from earlier rounds: see kernel/commits/rules/commit-bytes.ts. */
      readonly judged?: readonly Judged[];
      readonly ask?: undefined;
      /** Size of the request's body. */
      readonly bytes?: number;
      /** Counts the bytes of the receipts. */
      readonly answer?: Share | undefined;
      /** The commits say what has happened in a table or a service of the caller's: nothing refuses them, and they get no receipt. */
      readonly captured?: boolean;
      /** How a module judges the job's only commit itself. */
      readonly step?: CommitStep;
    }
  | {
      readonly ask: Ask;
      readonly commits?: undefined;
      readonly judged?: undefined;
      readonly bytes?: undefined;
      readonly answer?: undefined;
      readonly captured?: undefined;
      readonly step?: undefined;
    };

/** What a module does in one round with a commit that takes several: between them, it may ask others. */
export interface CommitStep<Answer = unknown> {
  readonly module: string;
  judge(state: TenantState, commit: CommitRequest, room: AnswerRoom): StepResult<Answer>;
}

/** `answer`: the module goes on with the commit. Nothing was judged if it waits: the round is full, or others are at work. */
export type StepResult<Answer = unknown> =
  | { readonly judged: Judged }
  | { readonly answer: Answer }
  | { readonly waits: "for a round" | "for others" };

/** All commits of a job have the same tenant. */
export const tenantOf = ({ commits, ask }: Job): number =>
  ask === undefined ? (commits[0]?.principal.tenant ?? 0) : ask.tenant;

/** The token for the fair order. Jobs that a timer starts have none. */
export const tokenOf = (job: Job): string => principalOf(job)?.tokenId ?? "";

/** The commits that have not been judged yet. */
export const commitsOf = (jobs: readonly Job[]): CommitRequest[] =>
  jobs.flatMap(({ commits, judged }) => commits?.slice(judged?.length ?? 0) ?? []);

export const principalOf = ({ commits, ask }: Job): Principal | undefined =>
  commits ? commits[0]?.principal : ask.principal;
