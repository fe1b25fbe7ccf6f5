import { operatorRoutes } from "../edge/http/routes/operator.ts";
import { tokenRoutes } from "../edge/http/routes/tokens.ts";
import { operatorFlows } from "../kernel/organizations/flows/operator-flows.ts";
import type { Part } from "../kernel/part.ts";
import { endTokens } from "../kernel/tokens/flows/end-tokens.ts";
import { identify } from "../kernel/tokens/flows/identify.ts";
import { scopedTokenFlows } from "../kernel/tokens/flows/scoped-token-flows.ts";
import type { Authentication } from "./authentication.ts";
import type { Connections } from "./connections.ts";
import type { ServerContext } from "./context.ts";
import type { Streams } from "./streams.ts";
import type { TenantDatabases } from "./tenant-databases.ts";

export interface Tokens extends Part {
  readonly routes: ReturnType<typeof tokenRoutes> & ReturnType<typeof operatorRoutes>;
}

/** Tokens and organizations. A token that is revoked ends its streams, here and in other processes. */
export function openTokens(
  { cursors, hooks, report }: ServerContext,
  { pool, wake }: Connections,
  { authenticator }: Authentication,
  { gateway }: Streams,
  databases: TenantDatabases,
): Tokens {
  const revoked = (tokenId: string) => {
    authenticator.forget(tokenId);
    wake.token(tokenId);
    return gateway.revoke(tokenId);
  };
  const ends = endTokens(hooks.tokensEnded, databases.of, report("end_tokens_failed"));
  return {
    routes: {
      ...tokenRoutes(scopedTokenFlows(pool, databases.of, cursors, revoked, ends), identify(pool, databases.of)),
      ...operatorRoutes(operatorFlows(pool, hooks.organizationCreated, revoked, ends)),
    },
  };
}
