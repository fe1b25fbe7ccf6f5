import type { ServerLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import type { TrustedProxies } from "./addresses/client-address.ts";
import type { PresenceTimes } from "./realtime/presence/presence-mesh.ts";

export interface ServerOptions {
  readonly databaseUrl: string;
  /** Opens the operator routes. */
  readonly adminToken: string;
  /** 32 bytes in base64 each, the newest first: they seal the secrets that the server has to read again. */
  readonly masterKeys: readonly string[];
  readonly host?: string;
  /** 0: any free one. */
  readonly port?: number;
  /** Awaited when all is ready, right before it listens: whoever held its address until then lets go of it. */
  beforeListening?(): Promise<void>;
  /** Browser origins that may call; undefined: loopback only. */
  readonly origins?: readonly string[] | undefined;
  /** The proxies whose word on where a request comes from is believed; undefined: none. */
  readonly trustProxy?: TrustedProxies;
  /** The address that answers tell of; undefined: the one that it listens on. */
  readonly publicUrl?: string | undefined;
  /** Commits in one transaction at most; 1 shows what the lane is worth. */
  readonly laneCommits?: number | undefined;
  /** Log entries older than that are taken away; undefined: the log is kept whole. */
  readonly logRetentionDays?: number | undefined;
  /** How often what is too old is taken away: every hour. */
  readonly pruneEveryMs?: number;
  /** Where the times of presence differ from the usual ones. */
  readonly presenceTimes?: Partial<PresenceTimes>;
  /** Where connections to the database and what is kept in memory of it differ from the usual. */
  readonly database?: Partial<DatabaseSettings> | undefined;
  /** Where webhooks differ from the usual. */
  readonly webhooks?: Partial<WebhookOptions> | undefined;
  /** Where the server's own limits differ from the usual ones. */
  readonly limits?: Partial<ServerLimits>;
  /** Without a token `/metrics` is shown to programs of this machine; else it is off. */
  readonly metricsLoopback?: boolean;
  /** Opens `/metrics`. */
  readonly metricsToken?: string | undefined;
  /** Undefined: silent. */
  readonly logger?: FastifyBaseLogger;
}

export interface DatabaseSettings {
  /** For everything but commits, tokens and hints. */
  readonly connections: number;
  /** For looking up tokens. */
  readonly authConnections: number;
  /** How long a request waits for one of these connections. */
  readonly waitMs: number;
  /** How long commits of all tenants wait for one tenant's head that another process holds. */
  readonly lockMs: number;
  /** Schemas, tokens and heads that a process remembers. */
  readonly cacheMegabytes: number;
}

export interface WebhookOptions {
  /** Also to http and to private addresses: for development, and for networks of one's own. */
  readonly allowPrivate: boolean;
  /** The wait before each attempt, in milliseconds. */
  readonly schedule: readonly number[];
  /** How long the secret before a roll goes on signing. */
  readonly rotationMs: number;
  readonly connectMs: number;
  readonly requestMs: number;
  /** How long nobody else sends to an endpoint after a request was begun: longer than `requestMs`. */
  readonly leaseMs: number;
}

/** What happens in the background is nobody's answer: it goes to the log, under this name. */
export type Report = (event: string) => (error: unknown) => void;

/** How often, under each name, since the process started. */
export type Failures = ReadonlyMap<string, number>;
