import { type ClientAddress, createClientAddress } from "../edge/addresses/client-address.ts";
import { type AuthHook, createAuthHook } from "../edge/http/auth-hook.ts";
import { createTraffic, type Traffic } from "../edge/http/traffic.ts";
import { createPool, type Database } from "../kernel/connection/pool.ts";
import { type ConnectionQuota, createConnectionQuota } from "../kernel/limits/connection-quota.ts";
import { createFailedAuthLimiter, type FailedAuthLimiter } from "../kernel/limits/failed-auth-limiter.ts";
import type { Part } from "../kernel/part.ts";
import { type Authenticator, createAuthenticator } from "../kernel/tokens/flows/authenticate.ts";
import { followTokenEnds } from "../kernel/tokens/flows/follow-token-ends.ts";
import type { Connections } from "./connections.ts";
import type { ServerContext } from "./context.ts";

/** Who sends a request or opens a stream, and how much each may do. */
export interface Authentication extends Part {
  /** A pool of its own, so that authentication works while everything else waits for the database. */
  readonly pool: Database;
  readonly authenticator: Authenticator;
  readonly clientAddress: ClientAddress;
  readonly failedAuths: FailedAuthLimiter;
  readonly quota: ConnectionQuota;
  readonly authHook: AuthHook;
  /** The limits of each token, over HTTP and on streams. */
  readonly traffic: Traffic;
}

export function openAuthentication(
  { options, database, limits, report }: ServerContext,
  { url, verify, wake }: Connections,
  maxBytes: number,
): Authentication {
  const pool = createPool({
    ...{ url, verify, waitMs: database.waitMs },
    maxConnections: database.authConnections,
    onError: report("database_connection_lost"),
  });
  const ends = followTokenEnds(pool, report("token_ends_failed"));
  const authenticator = createAuthenticator(pool, options.adminToken, { receivesTokenEnds: ends.isCurrent, maxBytes });
  ends.start(authenticator.forget);
  wake.subscribe({ token: authenticator.forget });
  const clientAddress = createClientAddress(options.trustProxy);
  const failedAuths = createFailedAuthLimiter(limits.rateFailedAuth);
  const quota = createConnectionQuota(limits, clientAddress.isProxy);
  const traffic = createTraffic(limits);
  return {
    ...{ pool, authenticator, clientAddress, failedAuths, quota, traffic },
    authHook: createAuthHook({ authenticator, clientAddress, quota, failedAuths, traffic }),
    forget: authenticator.forgetAll,
    async close() {
      await ends.stop();
      await pool.end();
    },
  };
}
