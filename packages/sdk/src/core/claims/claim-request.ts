import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { ClaimDraft, ConnectionState, Hold, Instant, RequestKind, Terms } from "./claim-state.ts";
import { isForRenewal } from "./lease-time.ts";

const ANSWER_MS = 10_000;

/** The request that a hold needs now, if any. */
export function neededRequest({ stage }: Hold, connection: ConnectionState, now: Instant): RequestKind | undefined {
  switch (stage.phase) {
    case "acquiring":
      return "acquire";
    case "waiting":
      if (stage.granted) return "renew";
      if (!connection.live) return "poll";
      return now.at >= stage.checkAt ? "renew" : undefined;
    case "held":
      return stage.check || isForRenewal(stage, now) ? "renew" : undefined;
    case "leaving":
      // Without a claim id, acquire again to learn the id. A release of all claims on the record could arrive late and
      // end a claim that was made after it.
      return stage.claimId === undefined ? "acquire" : "release";
  }
}

/** Sends the request and returns its number. */
export function request(
  draft: ClaimDraft,
  key: string,
  { target, users, stage }: Hold,
  what: RequestKind,
  claimId: string | undefined,
  keepalive = false,
): number {
  draft.requestCount += 1;
  const { clientId } = draft.connection;
  const queue = wantsQueue({ users });
  const { field } = target;
  const body =
    what === "acquire"
      ? {
          ...(stage.phase !== "leaving" && termsOf(users)),
          ...(field !== undefined && { field }),
          ...(queue && { queue }),
          ...(clientId && { clientId }),
        }
      : undefined;
  // A renewal that hangs must leave time for another one before the lease ends.
  const timeoutMs =
    what === "poll"
      ? limits.claimWaitMs + ANSWER_MS
      : stage.phase === "held" && what === "renew"
        ? Math.min(ANSWER_MS, Math.max(1_000, Math.ceil(stage.ttlMs / 4)))
        : ANSWER_MS;
  draft.effects.push({ do: "request", key, n: draft.requestCount, what, target, claimId, body, timeoutMs, keepalive });
  return draft.requestCount;
}

export const wantsQueue = ({ users }: Pick<Hold, "users">): boolean => users.some((user) => user.queue);

/** The terms of the latest user; preempting as long as any user wants that. */
function termsOf(users: Hold["users"]): Terms {
  const { preempt: _, ...terms } = users.at(-1)?.terms ?? {};
  return users.some((user) => user.terms.preempt) ? { ...terms, preempt: true } : terms;
}
