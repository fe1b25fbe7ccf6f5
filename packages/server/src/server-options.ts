import type { ServerLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import type { TrustedProxies } from "./edge/addresses/client-address.ts";
import type { PresenceTimes } from "./modules/presence/rooms/presence-mesh.ts";
import type { ServerModule } from "./server-module.ts";

export interface ServerOptions {
  readonly databaseUrl: string;
  /** Enables the operator routes. */
  readonly adminToken: string;
  /** Base64, 32 bytes each, newest first. They encrypt the secrets that the server has to read again. */
  readonly masterKeys: readonly string[];
  readonly host?: string | undefined;
  /** 0: any free port. */
  readonly port?: number | undefined;
  /**
   * Awaited once everything is ready, right before the server listens. A temporary listener on the same address closes
   * here.
   */
  readonly beforeListening?: (() => Promise<void>) | undefined;
  /** Browser origins that may call. Undefined: loopback only. */
  readonly origins?: readonly string[] | undefined;
  /** The proxies that are trusted to report a client's address. Undefined: none. */
  readonly trustProxy?: TrustedProxies | undefined;
  /** The base URL of links in responses. Undefined: the address that the server listens on. */
  readonly publicUrl?: string | undefined;
  /** Most commits in one transaction. With 1, a benchmark shows the gain from rounds. */
  readonly laneCommits?: number | undefined;
  /** Log entries older than this are deleted. Undefined: the log is never trimmed. */
  readonly logRetentionDays?: number | undefined;
  /** How often expired data is deleted. Every hour by default. */
  readonly pruneEveryMs?: number | undefined;
  /** Overrides of the default presence times. */
  readonly presenceTimes?: Partial<PresenceTimes> | undefined;
  /** Overrides of the default database settings. */
  readonly database?: Partial<DatabaseSettings> | undefined;
  /** Overrides of the default webhook settings. */
  readonly webhooks?: Partial<WebhookOptions> | undefined;
  /** Allows datasources at private addresses: for development and private networks. */
  readonly datasourcesAllowPrivate?: boolean | undefined;
  /** Overrides of the server's default limits. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /** Whether programs on this machine may read `/metrics` without a token. Otherwise it is off until a token is set. */
  readonly metricsLoopback?: boolean | undefined;
  /** Enables `/metrics` for this token. */
  readonly metricsToken?: string | undefined;
  /** Modules of one's own. Experimental. */
  readonly modules?: readonly ServerModule[] | undefined;
  /** Undefined: no logging. */
  readonly logger?: FastifyBaseLogger | undefined;
}

export interface DatabaseSettings {
  /** The pool for everything except commits, tokens and notifications. Reads of attached tables have six tenths as many more. */
  readonly connections: number;
  /** The pool for looking up tokens. */
  readonly authConnections: number;
  /** How long a request waits for a connection of a pool. */
  readonly waitMs: number;
  /** How long a round of several tenants waits for a head that another process has locked. */
  readonly lockMs: number;
  /** Memory for cached schemas, tokens and heads. */
  readonly cacheMegabytes: number;
}

export interface WebhookOptions {
  /** Allows http and private addresses: for development and private networks. */
  readonly allowPrivate: boolean;
  /** The delay before each attempt, in milliseconds. */
  readonly schedule: readonly number[];
  /** How long the previous secret continues to sign after a roll. */
  readonly rotationMs: number;
  readonly connectMs: number;
  readonly requestMs: number;
  /** How long no other process sends to an endpoint after a request has begun. Longer than `requestMs`. */
  readonly leaseMs: number;
}

/** Reports errors of background work, which no response can carry. They are logged under this name. */
export type Report = (event: string) => (error: unknown) => void;

/** The number of failures by name, since the process started. */
export type Failures = ReadonlyMap<string, number>;
