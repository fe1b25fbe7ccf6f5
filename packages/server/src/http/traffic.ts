import type { ServerLimits } from "@holdfast/sdk/protocol";
import type { FastifyReply } from "fastify";
import { createRateLimiter, type RateLimiter } from "../limits/rate-limiter.ts";
import { type Refusal, refuse } from "../rules/refusal.ts";
import type { TokenPrefix } from "../rules/tokens/token.ts";
import { createRequestLimiter, type RequestLimiter } from "./request-limiter.ts";

/** A request with a valid token. */
export interface Arrival {
  readonly tokenId: string;
  readonly prefix: TokenPrefix;
  /** A long poll, which has its own limit. */
  readonly longPoll: boolean;
  readonly reply: FastifyReply;
}

/** Undefined: the request may run. Usually returns without a promise, because this runs for every request. */
export type Traffic = (arrival: Arrival) => Refusal | undefined | Promise<Refusal | undefined>;

interface Lanes {
  readonly rate: RateLimiter | undefined;
  readonly requests: RequestLimiter;
  readonly longPolls: RequestLimiter;
}

/** Limits each token's request rate and its concurrent requests, in this process. */
export function createTraffic(limits: ServerLimits): Traffic {
  const { waitingPerToken: waiting, waitingMs } = limits;
  const lanes = (rate: number, most: number, longPolls: number): Lanes => ({
    rate: createRateLimiter(rate, 2 * rate),
    requests: createRequestLimiter({ most, waiting, waitingMs }),
    longPolls: createRequestLimiter({ most: longPolls, waiting, waitingMs }),
  });
  const byPrefix: Readonly<Record<TokenPrefix, Lanes>> = {
    sk: lanes(limits.rateSk, limits.inFlightSk, limits.longPollsSk),
    rk: lanes(limits.rateRk, limits.inFlightRk, limits.longPollsRk),
    ek: lanes(limits.rateEk, limits.inFlightEk, limits.longPollsEk),
  };

  return ({ tokenId, prefix, longPoll, reply }) => {
    const { rate, requests, longPolls } = byPrefix[prefix];
    if (rate && !isWithinRate(rate, tokenId, reply)) return refuse("rate_limited");
    const running = longPoll ? longPolls : requests;
    if (!running.enter(tokenId)) return waitForTurn(running, tokenId, reply);
    leaveWhenClosed(running, tokenId, reply);
    return undefined;
  };
}

function isWithinRate(rate: RateLimiter, tokenId: string, reply: FastifyReply): boolean {
  const left = rate.take(tokenId);
  const remaining = Math.max(0, Math.floor(left));
  void reply.headers({
    "ratelimit-limit": rate.burst,
    "ratelimit-remaining": remaining,
    "ratelimit-reset": rate.resetSeconds(tokenId),
  });
  return left >= 0;
}

async function waitForTurn(
  running: RequestLimiter,
  tokenId: string,
  reply: FastifyReply,
): Promise<Refusal | undefined> {
  const runs = await running.wait(tokenId, (left) => reply.raw.once("close", left));
  if (!runs) return refuse("rate_limited", { message: "This token has too many requests in flight." });
  // The client may have disconnected at the moment the slot was assigned.
  if (reply.raw.closed || reply.raw.destroyed) running.leave(tokenId);
  else leaveWhenClosed(running, tokenId, reply);
  return undefined;
}

/** Also covers a client that disconnects before it has sent its body, when no handler runs. */
const leaveWhenClosed = (running: RequestLimiter, tokenId: string, reply: FastifyReply): void =>
  void reply.raw.on("close", () => running.leave(tokenId));
