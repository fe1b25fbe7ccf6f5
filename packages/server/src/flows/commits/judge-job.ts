import { limits } from "@holdfast/sdk/protocol";
import type { Share } from "../../limits/answer-bytes.ts";
import { AMPLE_ROOM, type AnswerRoom } from "../../rules/commits/answer-room.ts";
import { appendHappened, isLocked, type Judged, judgeInOrder } from "../../rules/commits/judge-commits.ts";
import type { TenantState } from "../../rules/commits/tenant-state.ts";
import { judgeForSource, type SourceJudgement, settleIntent } from "../../rules/sources/judge-intent.ts";
import type { Job } from "./job.ts";
import type { RoundOutcome } from "./round-outcome.ts";

/** Judges a job. `hasSources`: some models of the tenant have sources. */
export function judgeJob(state: TenantState, job: Job, hasSources: boolean): RoundOutcome {
  if (job.ask !== undefined) return { answer: job.ask.decide(state) };
  const { commits, judged, source, captured, answer } = job;
  const [commit] = commits;
  if (captured) return { commits: appendHappened(state, commits) };
  if (source && "intent" in source) return outcomeOf(settleIntent(state, source.intent, source.answer));
  // The schema has changed since its author chose the way that it goes.
  if ((source !== undefined) !== hasSources) return { hasSources };
  if (source && commit) return outcomeOf(judgeForSource(state, commit, source.id, roomOf(answer)), answer);
  const done = judgeInOrder(state, commits, judged, roomOf(answer));
  answer?.take(bytesOf(done));
  const next = commits[done.length];
  return { commits: done, isLocked: next !== undefined && isLocked(state, next) };
}

function roomOf(share: Share | undefined): AnswerRoom {
  if (!share) return AMPLE_ROOM;
  const { inFlight, others } = share.room();
  return { inAnswer: limits.bulkAnswerBytes - others, inFlight };
}

const bytesOf = (judged: readonly Judged[]): number => judged.reduce((sum, { bytes }) => sum + bytes, 0);

function outcomeOf(found: SourceJudgement, answer?: Share): RoundOutcome {
  if ("intent" in found) return found;
  if ("judged" in found) answer?.take(found.judged.bytes);
  return "judged" in found ? { commits: [found.judged] } : { commits: [], isLocked: found.waits === "for an intent" };
}
