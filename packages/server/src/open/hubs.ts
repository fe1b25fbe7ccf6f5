import type { PublishedLogs } from "../edge/socket/session-deps.ts";
import { createLimiter } from "../kernel/limits/limiter.ts";
import { followLog } from "../kernel/log/flows/follow-log.ts";
import type { Part } from "../kernel/part.ts";
import { createClientSchemas } from "../kernel/schema/flows/client-schemas.ts";
import { createCatchUp } from "../kernel/stream/catch-up.ts";
import { createHeadPoll, type HeadPoll } from "../kernel/stream/head-poll.ts";
import { createHub } from "../kernel/stream/hub.ts";
import type { DatabaseContext } from "./context.ts";

/** Pages for sockets that catch up: few enough that commits get their share of the database. */
const CATCH_UPS = { most: 4, mostPerKey: 3 };

/** What this process publishes of logs to its streams and long polls. */
export interface Hubs extends Part, Omit<PublishedLogs, "modules"> {
  readonly heads: HeadPoll;
}

export function openHubs({ pool, schemas, cacheBytes, wake, report }: DatabaseContext): Hubs {
  const log = followLog(pool, schemas);
  const heads = createHeadPoll(log.heads, report("tail_failed"));
  const hub = createHub(log, heads, report("tail_failed"));
  const catchUp = createCatchUp(log, createLimiter(CATCH_UPS), cacheBytes / 8);
  const clientSchemas = createClientSchemas(pool, schemas, Date.now);
  wake.subscribe({ log: hub.reached, schema: hub.schemaChanged, opened: heads.askAll });
  return {
    ...{ log, hub, heads, catchUp, clientSchemas },
    forget() {
      catchUp.forget();
      hub.forget();
      clientSchemas.forget();
    },
    async close() {
      heads.close();
    },
  };
}
