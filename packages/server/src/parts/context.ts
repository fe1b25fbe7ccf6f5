import type { ServerLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import type { PublicUrl } from "../addresses/public-url.ts";
import type { PageCursors } from "../flows/lists/page-cursor.ts";
import type { UsageCounter } from "../flows/organizations/count-usage.ts";
import type { SchemaCache } from "../flows/schema/schema-cache.ts";
import type { Metrics } from "../metrics/prometheus.ts";
import type { DatabaseSettings, Report, ServerOptions } from "../server-options.ts";
import type { OpenDatabase } from "./database.ts";

/** What all parts of the server use. */
export interface ServerContext extends Pick<OpenDatabase, "pool" | "authPool" | "verify" | "wake"> {
  readonly options: ServerOptions;
  readonly database: DatabaseSettings;
  readonly limits: ServerLimits;
  /** Memory for all caches together. */
  readonly cacheBytes: number;
  readonly logger: FastifyBaseLogger;
  readonly report: Report;
  readonly metrics: Metrics;
  readonly schemas: SchemaCache;
  readonly cursors: PageCursors;
  readonly usage: UsageCounter;
  readonly publicUrl: PublicUrl;
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
}
