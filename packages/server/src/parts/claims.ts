import { renameClaims, revokeClaims } from "../db/claims/claims.ts";
import { claimFlows } from "../flows/claims/claim-flows.ts";
import { claimsInRounds } from "../flows/claims/claims-in-rounds.ts";
import { followClaims } from "../flows/claims/follow-claims.ts";
import { keepClaims, keepWaiters } from "../flows/claims/keep-claims.ts";
import { claimRoutes } from "../http/routes/claims.ts";
import { createClaimHub } from "../realtime/claims/claim-hub.ts";
import { claimsOnStreams } from "../realtime/claims/claims-on-stream.ts";
import { listenToQueue } from "../realtime/claims/listen-to-queue.ts";
import { CLAIMS } from "../rules/claims/claims-state.ts";
import { startRepeating } from "../workers/repeat.ts";
import type { ModuleContext } from "./context.ts";
import type { DatabaseModule, Module } from "./module.ts";

/** Who may write a record for a while, and who waits for it. */
export const claims = {
  name: CLAIMS,
  openIn,
  schemaPushed: renameClaims,
  tokensEnded: revokeClaims,
  inRounds: claimsInRounds,
} satisfies Module;

/** Requests about claims, what streams tell of them, and the worker that ends expired leases. */
function openIn(ctx: ModuleContext): DatabaseModule<ReturnType<typeof claimRoutes>> {
  const { pool, tables, schemas, lanes, heads, wake, report } = ctx;
  const failed = report("claims_failed");
  const follow = followClaims(pool, tables, schemas);
  const hub = createClaimHub(follow, heads, report("claim_news_failed"));
  wake.subscribe({ claims: hub.changed });
  const keeper = startRepeating(keepClaims(pool, lanes, failed), failed);
  return {
    routes: claimRoutes(claimFlows(pool, tables, schemas, lanes, (tenant, key) => listenToQueue(hub, tenant, key))),
    streams: claimsOnStreams(hub, follow),
    alive: keepWaiters(pool, lanes),
    changed(tenant) {
      hub.changed(tenant);
      wake.claims(tenant);
    },
    forget: hub.forget,
    close: keeper.stop,
  };
}
