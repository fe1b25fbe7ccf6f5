import { claimFlows } from "../flows/claims/claim-flows.ts";
import { keepClaims } from "../flows/claims/keep-claims.ts";
import { claimRoutes } from "../http/routes/claims.ts";
import { listenToQueue } from "../realtime/claims/listen-to-queue.ts";
import { startRepeating } from "../workers/repeat.ts";
import type { Commits } from "./commits.ts";
import type { PlaneContext } from "./context.ts";
import type { Hubs } from "./hubs.ts";
import type { Part } from "./part.ts";

export interface Claims extends Part {
  readonly routes: ReturnType<typeof claimRoutes>;
}

/** Requests about claims, and the worker that ends expired leases. */
export function openClaims(
  { pool, tables, schemas, report }: PlaneContext,
  { claimHub }: Hubs,
  { lanes }: Commits,
): Claims {
  const failed = report("claims_failed");
  const keeper = startRepeating(keepClaims(pool, lanes, failed), failed);
  return {
    routes: claimRoutes(
      claimFlows(pool, tables, schemas, lanes, (tenant, key) => listenToQueue(claimHub, tenant, key)),
    ),
    close: keeper.stop,
  };
}
