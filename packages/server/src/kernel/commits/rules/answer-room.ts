import { type ErrorCode, limits } from "@holdfast/sdk/protocol";
import { bytesInUtf8 } from "./check-record-size.ts";
import type { Decision } from "./tenant-state.ts";

/**
 * Bytes that the receipts of a job may have. Its commits are tried only as far as their receipts fit: a commit of a few
 * bytes can have a large receipt, if it is held and its receipt has the current values, or repeats such a one.
 */
export interface AnswerRoom {
  /** In the answer to its request. */
  readonly inAnswer: number;
  /** Beside all other answers that are in flight. */
  readonly inFlight: number;
}

export const AMPLE_ROOM: AnswerRoom = { inAnswer: limits.bulkAnswerBytes, inFlight: Number.POSITIVE_INFINITY };

type NoRoom = Extract<ErrorCode, "answer_too_large" | "too_many_answers">;

/** What a decision with this receipt adds to an answer. */
export const answerBytes = (decision: Decision, receipt: string): number =>
  bytesInUtf8(receipt) + (decision.kind === "refused" ? bytesInUtf8(JSON.stringify(decision.refusal)) : 0);

/**
 * Why a decision of `bytes` does not fit behind `used` bytes of others. The first one of an answer always fits into it.
 * A confirmed one is not refused for other answers: its receipt is small, and a round that is judged twice must confirm
 * it twice.
 */
export function noRoom(
  { inAnswer, inFlight }: AnswerRoom,
  used: number,
  bytes: number,
  { kind }: Pick<Decision, "kind">,
): NoRoom | undefined {
  const isFirst = used === 0 && inAnswer >= limits.bulkAnswerBytes;
  if (used + bytes > inAnswer && !isFirst) return "answer_too_large";
  return kind !== "confirmed" && kind !== "proposed" && used + bytes > inFlight ? "too_many_answers" : undefined;
}

/** Set if an earlier commit of the job did not fit: then the later ones are not tried. */
export const fullFor = (decision: Decision): NoRoom | undefined =>
  decision.kind === "refused" &&
  (decision.refusal.code === "answer_too_large" || decision.refusal.code === "too_many_answers")
    ? decision.refusal.code
    : undefined;
