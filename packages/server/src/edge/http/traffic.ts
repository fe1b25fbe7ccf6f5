import type { ServerLimits } from "@holdfast/sdk/protocol";
import { createLimiter, type Limiter, type Patience } from "../../kernel/limits/limiter.ts";
import { createRateLimiter, type RateLimiter } from "../../kernel/limits/rate-limiter.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { TokenPrefix } from "../../kernel/tokens/rules/token.ts";

/** A request with a valid token. */
export interface Arrival {
  readonly tokenId: string;
  readonly prefix: TokenPrefix;
  /** A long poll, which has its own limit. */
  readonly longPoll: boolean;
  /** Calls back once its answer has left the process, or cannot any more. */
  whenEnded(then: () => void): void;
  /** What is left of the token's rate. */
  told?(headers: Readonly<Record<string, string | number>>): void;
}

/** Undefined: the request may run. Usually returns without a promise, because this runs for every request. */
export type Traffic = (arrival: Arrival) => Refusal | undefined | Promise<Refusal | undefined>;

interface TokenLimits {
  readonly rate: RateLimiter | undefined;
  readonly requests: Limiter<string>;
  readonly longPolls: Limiter<string>;
}

/** Limits each token's request rate and its concurrent requests, in this process. */
export function createTraffic(limits: ServerLimits): Traffic {
  const patience = { mostWaiting: limits.waitingPerToken, waitMs: limits.waitingMs };
  const tokenLimits = (rate: number, requests: number, longPolls: number): TokenLimits => ({
    rate: createRateLimiter(rate, 2 * rate),
    requests: createLimiter({ mostPerKey: requests }),
    longPolls: createLimiter({ mostPerKey: longPolls }),
  });
  const byPrefix: Readonly<Record<TokenPrefix, TokenLimits>> = {
    sk: tokenLimits(limits.rateSk, limits.inFlightSk, limits.longPollsSk),
    rk: tokenLimits(limits.rateRk, limits.inFlightRk, limits.longPollsRk),
    ek: tokenLimits(limits.rateEk, limits.inFlightEk, limits.longPollsEk),
  };

  return (arrival) => {
    const { tokenId, prefix, longPoll } = arrival;
    const { rate, requests, longPolls } = byPrefix[prefix];
    if (rate && !isWithinRate(rate, arrival)) return refuse("rate_limited");
    const running = longPoll ? longPolls : requests;
    if (!running.tryEnter(tokenId)) return waitForTurn(running, arrival, patience);
    leaveWhenEnded(running, arrival);
    return undefined;
  };
}

function isWithinRate(rate: RateLimiter, { tokenId, told }: Arrival): boolean {
  const left = rate.take(tokenId);
  const remaining = Math.max(0, Math.floor(left));
  told?.({
    "ratelimit-limit": rate.burst,
    "ratelimit-remaining": remaining,
    "ratelimit-reset": rate.resetSeconds(tokenId),
  });
  return left >= 0;
}

async function waitForTurn(
  running: Limiter<string>,
  arrival: Arrival,
  patience: Patience,
): Promise<Refusal | undefined> {
  const disconnected = new AbortController();
  arrival.whenEnded(() => disconnected.abort());
  const runs = await running.enter(arrival.tokenId, "", { ...patience, signal: disconnected.signal });
  if (!runs) return refuse("rate_limited", { message: "This token has too many requests in flight." });
  // The client may have disconnected at the moment the slot was assigned.
  leaveWhenEnded(running, arrival);
  return undefined;
}

/** Also covers a client that disconnects before it has sent its body, when no handler runs. */
const leaveWhenEnded = (running: Limiter<string>, { tokenId, whenEnded }: Arrival): void =>
  whenEnded(() => running.leave(tokenId));
