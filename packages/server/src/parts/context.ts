import type { ServerLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import type { PublicUrl } from "../addresses/public-url.ts";
import type { CommitLanes } from "../flows/commits/commit-lanes.ts";
import type { PublishDrained } from "../flows/commits/round-result.ts";
import type { Encryption } from "../flows/encryption.ts";
import type { PageCursors } from "../flows/lists/page-cursor.ts";
import type { ModuleHooks } from "../flows/module-hooks.ts";
import type { UsageCounter } from "../flows/organizations/count-usage.ts";
import type { SchemaCache } from "../flows/schema/schema-cache.ts";
import type { AnswerBytes } from "../limits/answer-bytes.ts";
import type { IncomingAnswers } from "../limits/incoming-answers.ts";
import type { Metrics } from "../metrics/prometheus.ts";
import type { HeadPoll } from "../realtime/log/head-poll.ts";
import type { DatabaseSettings, Report, ServerOptions } from "../server-options.ts";
import type { Connections } from "./connections.ts";

/** What all parts of the server use. */
export interface ServerContext {
  readonly options: ServerOptions;
  readonly database: DatabaseSettings;
  readonly limits: ServerLimits;
  readonly logger: FastifyBaseLogger;
  readonly report: Report;
  readonly metrics: Metrics;
  /** Records how long a round of commits took, in seconds. */
  readonly roundTook: (seconds: number) => void;
  /** Encrypts secrets that the server needs in clear later. */
  readonly encryption: Encryption;
  readonly cursors: PageCursors;
  readonly usage: UsageCounter;
  readonly publicUrl: PublicUrl;
  /** The bytes of all answers in flight. */
  readonly answers: AnswerBytes;
  /** What callers' services answer. */
  readonly incoming: IncomingAnswers;
  /** What modules do with tenants. */
  readonly hooks: ModuleHooks;
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
}

/** What the parts use that serve the tenants of one database. */
export interface DatabaseContext extends ServerContext, Omit<Connections, "close" | "check"> {
  /** Memory for the caches of this database together. */
  readonly cacheBytes: number;
  readonly schemas: SchemaCache;
}

/** What modules use of the kernel that serves the tenants of one database. */
export interface ModuleContext extends DatabaseContext {
  readonly lanes: CommitLanes;
  readonly publishDrained: PublishDrained;
  /** The heads of logs that are followed. */
  readonly heads: HeadPoll;
}
