import type { ServerLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import type { PublicUrl } from "../edge/addresses/public-url.ts";
import type { Metrics } from "../edge/metrics/prometheus.ts";
import type { CommitLanes } from "../kernel/commits/flows/commit-lanes.ts";
import type { PublishDrained } from "../kernel/commits/flows/round-result.ts";
import type { SubmitCommits } from "../kernel/commits/flows/submit-commits.ts";
import type { Encryption } from "../kernel/encryption.ts";
import type { AnswerBytes } from "../kernel/limits/answer-bytes.ts";
import type { IncomingAnswers } from "../kernel/limits/incoming-answers.ts";
import type { PageCursors } from "../kernel/lists/flows/page-cursor.ts";
import type { ModuleHooks } from "../kernel/module-hooks.ts";
import type { UsageCounter } from "../kernel/organizations/flows/count-usage.ts";
import type { SchemaCache } from "../kernel/schema/flows/schema-cache.ts";
import type { HeadPoll } from "../kernel/stream/head-poll.ts";
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
  /** Submits commits as a request does. Not before all modules are open. */
  readonly submit: SubmitCommits;
  readonly publishDrained: PublishDrained;
  /** The heads of logs that are followed. */
  readonly heads: HeadPoll;
}
