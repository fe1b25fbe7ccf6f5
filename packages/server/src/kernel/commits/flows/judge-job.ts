import { limits } from "@holdfast/sdk/protocol";
import type { Share } from "../../limits/answer-bytes.ts";
import { AMPLE_ROOM, type AnswerRoom } from "../rules/answer-room.ts";
import { appendHappened, isLocked, type Judged, judgeInOrder } from "../rules/judge-commits.ts";
import { ownerOf, type TenantState } from "../rules/tenant-state.ts";
import type { Job, StepResult } from "./job.ts";
import type { JobOutcome } from "./round-outcome.ts";

export function judgeJob(state: TenantState, job: Job): JobOutcome {
  if (job.ask !== undefined) return { answer: job.ask.decide(state) };
  const { commits, judged, step, captured, answer } = job;
  const [commit] = commits;
  if (captured) return { commits: appendHappened(state, commits) };
  if (step && commit) return outcomeOf(step.judge(state, commit, roomOf(answer)), answer);
  // Its author chose this way by an older schema.
  const owner = ownerOf(state);
  if (owner !== undefined) return { takenBy: owner };
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

function outcomeOf(found: StepResult, answer: Share | undefined): JobOutcome {
  if ("answer" in found) return found;
  if ("waits" in found) return { commits: [], isLocked: found.waits === "for others" };
  answer?.take(found.judged.bytes);
  return { commits: [found.judged] };
}
