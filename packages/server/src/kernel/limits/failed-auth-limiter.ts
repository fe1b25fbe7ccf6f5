import { addressKey } from "./address-key.ts";
import { createRateLimiter } from "./rate-limiter.ts";

/** Counts requests without a valid token by address, over HTTP and on the stream. */
export interface FailedAuthLimiter {
  /** Counts one request whose token was refused or missing. */
  recordFailure(address: string): void;
  /** Whether the address has sent so many that the next token is not checked. */
  areTooMany(address: string): boolean;
}

export function createFailedAuthLimiter(perSecond: number): FailedAuthLimiter {
  const rate = createRateLimiter(perSecond, perSecond);
  // Fast path for every request: no failure has been counted yet.
  let any = false;
  return {
    recordFailure(address) {
      any = true;
      rate?.take(addressKey(address));
    },
    areTooMany: (address) => any && (rate?.hasNone(addressKey(address)) ?? false),
  };
}
