import { followClaims } from "../flows/claims/follow-claims.ts";
import { followLog } from "../flows/log/follow-log.ts";
import { createClientSchemas } from "../flows/schema/client-schemas.ts";
import { createLimiter } from "../limits/limiter.ts";
import { createClaimHub } from "../realtime/claims/claim-hub.ts";
import { createCatchUp } from "../realtime/log/catch-up.ts";
import { createHeadPoll } from "../realtime/log/head-poll.ts";
import { createHub } from "../realtime/log/hub.ts";
import type { Followed } from "../realtime/session-deps.ts";
import type { PlaneContext } from "./context.ts";
import type { Part } from "./part.ts";

/** Pages for sockets that catch up: few enough that commits get their share of the database. */
const CATCH_UPS = { most: 4, mostPerKey: 3 };

/** What this process publishes of logs and claims to its streams and long polls. */
export type Hubs = Part & Followed;

export function openHubs({ pool, tables, schemas, cacheBytes, wake, report }: PlaneContext): Hubs {
  const log = followLog(pool, schemas);
  const heads = createHeadPoll(log.heads, report("tail_failed"));
  const hub = createHub(log, heads, report("tail_failed"));
  const catchUp = createCatchUp(log, createLimiter(CATCH_UPS), cacheBytes / 8);
  const claims = followClaims(pool, tables, schemas);
  const claimHub = createClaimHub(claims, heads, report("claim_news_failed"));
  const clientSchemas = createClientSchemas(pool, schemas, Date.now);
  wake.subscribe({ log: hub.hint, schema: hub.schemaHint, claims: claimHub.changed, opened: heads.askAll });
  return {
    ...{ log, hub, catchUp, claims, claimHub, clientSchemas },
    forget() {
      catchUp.forget();
      hub.forget();
      claimHub.forget();
      clientSchemas.forget();
    },
    async close() {
      heads.close();
    },
  };
}
