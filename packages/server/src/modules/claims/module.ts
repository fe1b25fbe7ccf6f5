import { startRepeating } from "../../kernel/workers/repeat.ts";
import type { ModuleContext } from "../../open/context.ts";
import type { DatabaseModule, Module } from "../module.ts";
import { renameClaims, revokeClaims } from "./db/claims.ts";
import { claimFlows } from "./flows/claim-flows.ts";
import { claimsInRounds } from "./flows/claims-in-rounds.ts";
import { followClaims } from "./flows/follow-claims.ts";
import { keepClaims, keepWaiters } from "./flows/keep-claims.ts";
import { claimsOn } from "./flows/read-queues.ts";
import { claimRoutes } from "./routes.ts";
import { CLAIMS } from "./rules/claims-state.ts";
import { createClaimHub } from "./streams/claim-hub.ts";
import { claimsOnStreams } from "./streams/claims-on-stream.ts";
import { listenToQueue } from "./streams/listen-to-queue.ts";

/** Who may write a record for a while, and who waits for it. */
export const claims = {
  name: CLAIMS,
  openIn,
  schemaPushed: renameClaims,
  tokensEnded: revokeClaims,
  ofRecord: claimsOn,
  inRounds: claimsInRounds,
} satisfies Module;

/** Requests about claims, what streams tell of them, and the worker that ends expired leases. */
function openIn(ctx: ModuleContext): DatabaseModule<ReturnType<typeof claimRoutes>> {
  const { pool, tables, hooks, schemas, lanes, heads, wake, report } = ctx;
  const elsewhere = { tables, places: hooks.places };
  const failed = report("claims_failed");
  const follow = followClaims(pool, elsewhere, schemas);
  const hub = createClaimHub(follow, heads, report("claim_news_failed"));
  wake.subscribe({ claims: hub.changed });
  const keeper = startRepeating(keepClaims(pool, lanes, failed), failed);
  return {
    routes: claimRoutes(claimFlows(pool, elsewhere, schemas, lanes, (tenant, key) => listenToQueue(hub, tenant, key))),
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
