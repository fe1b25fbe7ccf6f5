import { addressKey } from "./address-key.ts";
import { createRateLimiter } from "./rate-limiter.ts";

/** Requests without a valid token, counted by the address that they come from: over HTTP and on the stream. */
export interface FailedAuthLimiter {
  /** One came: its token was refused, or it had none. */
  came(address: string): void;
  /** So many came from there that the next one is not even looked at. */
  areTooMany(address: string): boolean;
}

export function createFailedAuthLimiter(perSecond: number): FailedAuthLimiter {
  const rate = createRateLimiter(perSecond, perSecond);
  // Nobody came yet: the usual case, asked with every request.
  let any = false;
  return {
    came(address) {
      any = true;
      rate?.take(addressKey(address));
    },
    areTooMany: (address) => any && (rate?.hasNone(addressKey(address)) ?? false),
  };
}
