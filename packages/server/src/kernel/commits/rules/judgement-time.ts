import type { CommitRequest } from "./commit-request.ts";

/*
 * A tenant's writes wait while a commit is judged, and it is judged again as long as something is missing. Most commits
 * miss something once or twice. One that misses something each time for a second is ended. A slow database is not the
 * fault of a commit, and answers few questions in that time.
 */
export interface JudgementTime {
  readonly began: number;
  readonly times: number;
  /** What missed something the last time. */
  readonly incomplete: ReadonlySet<CommitRequest>;
  /** These are judged no more. */
  readonly ended: readonly CommitRequest[];
}

const PATIENCE = { ms: 1_000, times: 10 };

/** `now`: a monotonic clock, in milliseconds. */
export const judgementTime = (now: number): JudgementTime => ({
  began: now,
  times: 0,
  incomplete: new Set(),
  ended: [],
});

/** `incomplete`: the commits that missed something. */
export function judgedAgain(
  { began, times, incomplete: before, ended }: JudgementTime,
  incomplete: readonly CommitRequest[],
  now: number,
): JudgementTime {
  const isOver = times + 1 >= PATIENCE.times && now - began >= PATIENCE.ms;
  if (!isOver) return { began, times: times + 1, incomplete: new Set(incomplete), ended };
  return { ...judgementTime(now), ended: [...ended, ...incomplete.filter((commit) => before.has(commit))] };
}
