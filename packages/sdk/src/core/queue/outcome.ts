import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import { errorCodes, isErrorCode } from "../../protocol/errors/error-codes.ts";
import { type Failure, knownFailure, readFailure } from "./failure.ts";

/** What came of a request, before anybody judged it. */
export type Reply =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body: unknown;
      readonly retryAfterMs?: number | undefined;
    }
  /** No answer: whatever was asked may have happened or not. `cut`: it had begun to come. */
  | { readonly kind: "silence"; readonly timedOut: boolean; readonly cut?: boolean; readonly reason: string }
  /** It was never sent: the app had no token to give. */
  | { readonly kind: "no-token"; readonly reason: string };

/** What a reply as a whole means. Whether to try again follows from the error table and the status alone. */
export type Verdict =
  | { readonly then: "read"; readonly body: unknown }
  | { readonly then: "again"; readonly reason: string; readonly atLeastMs: number; readonly smaller: boolean }
  | { readonly then: "sign-in"; readonly reason: string }
  /** The request itself was refused, in words of our own server. */
  | { readonly then: "refused"; readonly failure: Failure };

export function verdictOf(reply: Reply): Verdict {
  switch (reply.kind) {
    case "silence":
      return { then: "again", reason: reply.reason, atLeastMs: 0, smaller: reply.timedOut };
    case "no-token":
      return { then: "sign-in", reason: reply.reason };
    case "answer": {
      if (reply.status >= 200 && reply.status < 300) return { then: "read", body: reply.body };
      const failure = readFailure(reply.body, reply.status);
      const reason = failure?.message ?? `The server answered ${reply.status}.`;
      if (remedy(failure, reply.status) === "sign-in") return { then: "sign-in", reason };
      // A refusal that is not in our envelope comes from something between here and the server. It decides nothing.
      if (!failure || isTransient(failure, reply.status) || reply.retryAfterMs !== undefined)
        return { then: "again", reason, atLeastMs: reply.retryAfterMs ?? 0, smaller: false };
      return { then: "refused", failure };
    }
  }
}

/** What became of one commit of a bulk. */
export type Outcome =
  | { readonly kind: "confirmed"; readonly receipt: CommitReceipt }
  | { readonly kind: "held"; readonly receipt: CommitReceipt; readonly failure: Failure }
  | { readonly kind: "refused"; readonly failure: Failure }
  /** An earlier one of its record did not go through; it was not tried. */
  | { readonly kind: "blocked" }
  /** Unknown, or not tried: the same again. */
  | { readonly kind: "again"; readonly reason: string }
  | { readonly kind: "sign-in"; readonly reason: string };

/** The outcomes of a bulk, in its order; undefined when the body is not an answer to `count` commits. */
export function outcomesOf(body: unknown, count: number): readonly Outcome[] | undefined {
  const data = (body as { data?: unknown } | null)?.data;
  return Array.isArray(data) && data.length === count ? data.map(outcomeOf) : undefined;
}

export function outcomeOf(item: unknown): Outcome {
  const { httpStatus: status, ...said } = (item ?? {}) as { httpStatus?: number } & Record<string, unknown>;
  if (status === 200 && said.object === "commit_receipt") {
    const receipt = said as unknown as CommitReceipt;
    if (receipt.status === "confirmed") return { kind: "confirmed", receipt };
    const failure = failureOfReceipt(receipt);
    return receipt.notifications?.length ? { kind: "held", receipt, failure } : { kind: "refused", failure };
  }
  const failure = typeof status === "number" ? readFailure(said, status) : undefined;
  if (!failure) return { kind: "again", reason: "The response to a write could not be parsed." };
  if (failure.code === "dependency_blocked") return { kind: "blocked" };
  if (failure.then === "sign-in") return { kind: "sign-in", reason: failure.message };
  if (isTransient(failure, status ?? 500)) return { kind: "again", reason: failure.message };
  return { kind: "refused", failure };
}

/** A receipt that says "rejected" carries the reason inside. */
function failureOfReceipt(receipt: CommitReceipt): Failure {
  const code = receipt.error?.code ?? "stale_context";
  const { message = "The server did not accept the write.", field, requiredCapability } = receipt.error ?? {};
  const known = knownFailure(isErrorCode(code) ? code : "stale_context", message);
  return { ...known, code, param: field, requiredCapability, receipt };
}

const remedy = (failure: Failure | undefined, status: number) =>
  failure ? failure.then : status === 401 ? "sign-in" : undefined;

/** The limit on requests passes by itself; a claim of somebody else is a matter for people, so it is a refusal. */
function isTransient(failure: Failure, status: number): boolean {
  if (failure.then === "retry") return true;
  if (failure.then !== "wait") return false;
  return isErrorCode(failure.code) ? errorCodes[failure.code].type === "rate_limit_error" : status === 429;
}
