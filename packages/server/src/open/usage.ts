import { usageRoutes } from "../edge/http/routes/usage.ts";
import type { Database } from "../kernel/connection/pool.ts";
import { readUsage } from "../kernel/organizations/flows/read-usage.ts";
import type { Part } from "../kernel/part.ts";
import { startUsageWriter } from "../kernel/workers/usage-writer.ts";
import type { ServerContext } from "./context.ts";

/** A crash loses the counts of this period. */
const USAGE_MS = 2_000;

export interface UsagePart extends Part {
  readonly routes: ReturnType<typeof usageRoutes>;
}

/** The usage of organizations. */
export function openUsage({ usage, report }: ServerContext, db: Database): UsagePart {
  const usageWriter = startUsageWriter(usage.flush, USAGE_MS, report("usage_failed"));
  return {
    routes: usageRoutes(readUsage(db, usage, Date.now)),
    close: usageWriter.stop,
  };
}
