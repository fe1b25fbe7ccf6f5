import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import { errorCodes, isErrorCode } from "../../protocol/errors/error-codes.ts";
import type { Failure } from "./failure.ts";
import { knownFailure } from "./known-failure.ts";
import { readFailure } from "./read-failure.ts";

/** The raw result of a request. */
export type Reply =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body: unknown;
      readonly retryAfterMs?: number | undefined;
    }
  /** No response arrived, so the request may have been executed or not. `cut`: the response broke off. */
  | { readonly kind: "silence"; readonly timedOut: boolean; readonly cut?: boolean; readonly reason: string }
  /** The request was not sent, because the app had no token. */
  | { readonly kind: "no-token"; readonly reason: string };

/** What a reply means for the whole request. Whether to retry depends only on the error table and the status. */
export type Verdict =
  | { readonly then: "read"; readonly body: unknown }
  | { readonly then: "again"; readonly reason: string; readonly atLeastMs: number; readonly smaller: boolean }
  | { readonly then: "sign-in"; readonly reason: string }
  /** The server itself refused the request, with an error body. */
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
      // A refusal without our error body comes from a proxy between client and server. It decides nothing.
      if (!failure || isTransient(failure, reply.status) || reply.retryAfterMs !== undefined)
        return { then: "again", reason, atLeastMs: reply.retryAfterMs ?? 0, smaller: false };
      return { then: "refused", failure };
    }
  }
}

/** The outcome of one commit in a bulk. */
export type Outcome =
  | { readonly kind: "confirmed"; readonly receipt: CommitReceipt }
  | { readonly kind: "conflicted"; readonly receipt: CommitReceipt; readonly failure: Failure }
  | { readonly kind: "refused"; readonly failure: Failure }
  /** Not tried, because an earlier write to its record did not succeed. */
  | { readonly kind: "blocked" }
  /** Unknown or not tried: send the same bytes again. */
  | { readonly kind: "again"; readonly reason: string }
  | { readonly kind: "sign-in"; readonly reason: string };

/** The outcomes of a bulk, in order. Undefined if the body does not answer `count` commits. */
export function outcomesOf(body: unknown, count: number): readonly Outcome[] | undefined {
  const data = (body as { data?: unknown } | null)?.data;
  return Array.isArray(data) && data.length === count ? data.map(outcomeOf) : undefined;
}

export function outcomeOf(item: unknown): Outcome {
  const { httpStatus: status, ...envelope } = (item ?? {}) as { httpStatus?: number } & Record<string, unknown>;
  if (status === 200 && envelope.object === "commit_receipt") {
    const receipt = envelope as unknown as CommitReceipt;
    if (receipt.status === "confirmed" || receipt.status === "proposed") return { kind: "confirmed", receipt };
    const failure = failureOfReceipt(receipt);
    return receipt.notifications?.length ? { kind: "conflicted", receipt, failure } : { kind: "refused", failure };
  }
  const failure = typeof status === "number" ? readFailure(envelope, status) : undefined;
  if (!failure) return { kind: "again", reason: "The response to a write could not be parsed." };
  if (failure.code === "dependency_blocked") return { kind: "blocked" };
  if (failure.then === "sign-in") return { kind: "sign-in", reason: failure.message };
  if (isTransient(failure, status ?? 500)) return { kind: "again", reason: failure.message };
  return { kind: "refused", failure };
}

/** A receipt with status "rejected" contains the reason. */
function failureOfReceipt(receipt: CommitReceipt): Failure {
  const code = receipt.error?.code ?? "stale_context";
  const { message = "The server did not accept the write.", field, requiredCapability } = receipt.error ?? {};
  const known = knownFailure(isErrorCode(code) ? code : "stale_context", message);
  return { ...known, code, param: field, requiredCapability, receipt };
}

const remedy = (failure: Failure | undefined, status: number) =>
  failure ? failure.then : status === 401 ? "sign-in" : undefined;

/** A rate limit passes by itself. Another participant's claim needs a decision, so it is a refusal. */
function isTransient(failure: Failure, status: number): boolean {
  if (failure.then === "retry") return true;
  if (failure.then !== "wait") return false;
  return isErrorCode(failure.code) ? errorCodes[failure.code].type === "rate_limit_error" : status === 429;
}
