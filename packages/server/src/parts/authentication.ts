import { type ClientAddress, createClientAddress } from "../addresses/client-address.ts";
import { type Authenticator, createAuthenticator } from "../flows/tokens/authenticate.ts";
import { followTokenEnds } from "../flows/tokens/follow-token-ends.ts";
import { type AuthHook, createAuthHook } from "../http/auth-hook.ts";
import { createTraffic } from "../http/traffic.ts";
import { type ConnectionQuota, createConnectionQuota } from "../limits/connection-quota.ts";
import { createFailedAuthLimiter, type FailedAuthLimiter } from "../limits/failed-auth-limiter.ts";
import type { ServerContext } from "./context.ts";
import type { Part } from "./part.ts";

/** Who sends a request or opens a stream, and how much each may do. */
export interface Authentication extends Part {
  readonly authenticator: Authenticator;
  readonly clientAddress: ClientAddress;
  readonly failedAuths: FailedAuthLimiter;
  readonly quota: ConnectionQuota;
  readonly authHook: AuthHook;
}

export function openAuthentication(ctx: ServerContext): Authentication {
  const { options, authPool, limits, cacheBytes, wake, report } = ctx;
  const ends = followTokenEnds(authPool, report("token_ends_failed"));
  const authenticator = createAuthenticator(authPool, options.adminToken, {
    receivesTokenEnds: ends.isCurrent,
    maxBytes: cacheBytes / 4,
  });
  ends.start(authenticator.forget);
  wake.subscribe({ token: authenticator.forget });
  const clientAddress = createClientAddress(options.trustProxy);
  const failedAuths = createFailedAuthLimiter(limits.rateFailedAuth);
  const quota = createConnectionQuota(limits, clientAddress.isProxy);
  const traffic = createTraffic(limits);
  return {
    ...{ authenticator, clientAddress, failedAuths, quota },
    authHook: createAuthHook({ authenticator, clientAddress, quota, failedAuths, traffic }),
    forget: authenticator.forgetAll,
    close: ends.stop,
  };
}
