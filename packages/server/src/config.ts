import { type ServerLimits, webhookLimits } from "@holdfast/sdk/protocol";
import { createClientAddress, type TrustedProxies } from "./edge/addresses/client-address.ts";
import { faultOfOrigin } from "./edge/addresses/origin-check.ts";
import { hasValidChecksum, isSecretKey } from "./kernel/tokens/rules/token.ts";
import type { LogFormat } from "./server-log.ts";
import type { DatabaseSettings } from "./server-options.ts";

/** The environment, read once. What makes no sense is refused with a sentence. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly secretKey: string | undefined;
  readonly adminToken: string | undefined;
  /** Without a token metrics are shown to programs of this machine. */
  readonly metricsLoopback: boolean;
  readonly metricsToken: string | undefined;
  /** 32 bytes in base64 each, the newest first. Undefined: made beside the embedded data. */
  readonly masterKeys: readonly string[] | undefined;
  readonly webhooks: WebhookConfig;
  /** Whether tenants may live in databases at private addresses. */
  readonly datasourcesAllowPrivate: boolean;
  readonly schemaFile: string | undefined;
  /** Files and packages with modules of one's own. */
  readonly modules: readonly string[];
  /** Undefined: loopback origins only. */
  readonly origins: readonly string[] | undefined;
  /** Undefined: the address it listens on. */
  readonly publicUrl: string | undefined;
  /** Undefined: no proxy is believed. */
  readonly trustProxy: TrustedProxies;
  readonly laneCommits: number | undefined;
  readonly database: Partial<DatabaseSettings>;
  /** Undefined: the log is kept whole. */
  readonly logRetentionDays: number | undefined;
  readonly logLevel: string;
  readonly logFormat: LogFormat | undefined;
  /** Only those that are set. */
  readonly limits: Partial<ServerLimits>;
  /** Variables that look like settings and are none: misspelled, perhaps. */
  readonly unknown: readonly string[];
}

/** Only what is set. */
export interface WebhookConfig {
  readonly allowPrivate?: boolean;
  readonly schedule?: readonly number[];
  readonly rotationMs?: number;
}

/** A setting that cannot be used, with a sentence for the operator in place of a stack trace. */
export class ConfigError extends Error {}

export function readConfig(env: Readonly<Record<string, string | undefined>>, { needsKey = true } = {}): Config {
  const asked = new Set(OF_CLIENTS);
  const text = (name: string) => {
    asked.add(name);
    return env[name] === "" ? undefined : env[name];
  };
  const databaseUrl = text("DATABASE_URL");
  const secretKey = text("HOLDFAST_SECRET_KEY");
  const adminToken = tokenOf("HOLDFAST_ADMIN_TOKEN", text("HOLDFAST_ADMIN_TOKEN"));
  const metricsToken = tokenOf("HOLDFAST_METRICS_TOKEN", text("HOLDFAST_METRICS_TOKEN"));
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl))
    throw new ConfigError("DATABASE_URL must begin with postgres://.");
  if (needsKey && databaseUrl !== undefined && secretKey === undefined)
    throw new ConfigError(
      "With DATABASE_URL, set HOLDFAST_SECRET_KEY to the first organization's key (holdfast --new-key prints one).",
    );
  const masterKeys = text("HOLDFAST_MASTER_KEY")?.split(",").map(masterKeyOf);
  if (needsKey && databaseUrl !== undefined && masterKeys === undefined)
    throw new ConfigError(
      "With DATABASE_URL, set HOLDFAST_MASTER_KEY to 32 bytes in base64 (holdfast --new-master-key prints some).",
    );
  if (secretKey !== undefined && !(hasValidChecksum(secretKey) && isSecretKey(secretKey)))
    throw new ConfigError(
      "HOLDFAST_SECRET_KEY must be an sk_live_ or sk_test_ key with a valid checksum (holdfast --new-key prints one).",
    );
  const level = text("HOLDFAST_LOG_LEVEL") ?? "info";
  if (!LEVELS.includes(level)) throw new ConfigError(`HOLDFAST_LOG_LEVEL must be one of ${LEVELS.join(", ")}.`);
  const config = {
    host: text("HOST") ?? "127.0.0.1",
    port: integer("PORT", text("PORT") ?? "8787", 0, 65_535),
    databaseUrl,
    dataDir: text("HOLDFAST_DATA_DIR") ?? ".holdfast",
    secretKey,
    adminToken,
    metricsToken,
    metricsLoopback: flag("HOLDFAST_METRICS_LOOPBACK", text) ?? false,
    masterKeys,
    webhooks: readWebhooks(text),
    datasourcesAllowPrivate: flag("HOLDFAST_DATASOURCE_ALLOW_PRIVATE", text) ?? false,
    schemaFile: text("HOLDFAST_SCHEMA"),
    modules: (text("HOLDFAST_MODULES") ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
    origins: text("HOLDFAST_ORIGINS")
      ?.split(",")
      .map((origin) => originOf(origin.trim())),
    publicUrl: addressOf(text("HOLDFAST_PUBLIC_URL")),
    database: readDatabase(text),
    trustProxy: proxiesOf(text("HOLDFAST_TRUST_PROXY")),
    laneCommits: optionalInteger("HOLDFAST_LANE_COMMITS", text("HOLDFAST_LANE_COMMITS"), 1, 1_000),
    logRetentionDays: optionalInteger("HOLDFAST_LOG_RETENTION_DAYS", text("HOLDFAST_LOG_RETENTION_DAYS"), 1, 36_500),
    logLevel: level,
    logFormat: askedFormat(text("HOLDFAST_LOG_FORMAT")),
    limits: readLimits(text),
  };
  return { ...config, unknown: Object.keys(env).filter((name) => name.startsWith("HOLDFAST_") && !asked.has(name)) };
}

function askedFormat(given: string | undefined): LogFormat | undefined {
  if (given === undefined || given === "json" || given === "text") return given;
  throw new ConfigError("HOLDFAST_LOG_FORMAT must be json or text.");
}

function readDatabase(text: (name: string) => string | undefined): Partial<DatabaseSettings> {
  const read = (name: string, min: number, max: number) => optionalInteger(name, text(name), min, max);
  const settings = {
    connections: read("HOLDFAST_DATABASE_CONNECTIONS", 1, 1_000),
    authConnections: read("HOLDFAST_DATABASE_AUTH_CONNECTIONS", 1, 100),
    waitMs: read("HOLDFAST_DATABASE_WAIT_MS", 100, 60_000),
    lockMs: read("HOLDFAST_DATABASE_LOCK_MS", 1, 4_000),
    cacheMegabytes: read("HOLDFAST_CACHE_MEGABYTES", 1, 65_536),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** Agents and the commands read these; they may stand in the environment of a server too. */
const OF_CLIENTS = ["HOLDFAST_URL", "HOLDFAST_TOKEN"];

function readWebhooks(text: (name: string) => string | undefined): WebhookConfig {
  const allowPrivate = flag("HOLDFAST_WEBHOOK_ALLOW_PRIVATE", text);
  const schedule = text("HOLDFAST_WEBHOOK_SCHEDULE")?.split(",");
  if (schedule && schedule.length !== webhookLimits.schedule.length)
    throw new ConfigError(
      `HOLDFAST_WEBHOOK_SCHEDULE must be ${webhookLimits.schedule.length} waits in milliseconds, separated by commas.`,
    );
  const rotation = optionalInteger(
    "HOLDFAST_WEBHOOK_ROTATION_SECONDS",
    text("HOLDFAST_WEBHOOK_ROTATION_SECONDS"),
    0,
    31_536_000,
  );
  return {
    ...(allowPrivate !== undefined && { allowPrivate }),
    ...(schedule && {
      schedule: schedule.map((wait) => integer("HOLDFAST_WEBHOOK_SCHEDULE", wait.trim(), 0, 2_592_000_000)),
    }),
    ...(rotation !== undefined && { rotationMs: rotation * 1_000 }),
  };
}

function flag(name: string, text: (name: string) => string | undefined): boolean | undefined {
  const value = text(name);
  if (value !== undefined && value !== "0" && value !== "1")
    throw new ConfigError(`${name} must be 1 or 0 (got "${value}").`);
  return value === undefined ? undefined : value === "1";
}

/** A token that the operator chooses. */
export const TOKEN = /^[\x21-\x7e]{16,512}$/;

function tokenOf(name: string, token: string | undefined): string | undefined {
  if (token !== undefined && !TOKEN.test(token))
    throw new ConfigError(`${name} must be 16 to 512 visible ASCII characters.`);
  return token;
}

export const MASTER_KEY = /^[A-Za-z0-9+/]{43}=$/;

function masterKeyOf(text: string): string {
  const key = text.trim();
  if (!MASTER_KEY.test(key))
    throw new ConfigError(
      "HOLDFAST_MASTER_KEY must be 32 bytes in base64 (holdfast --new-master-key prints some); separate several by commas, the newest first.",
    );
  return key;
}

/** Limit → its name in the environment, and what it may be. */
export const limitSettings: {
  readonly [name in keyof ServerLimits]: readonly [env: string, min: number, max: number];
} = {
  recordBytes: ["HOLDFAST_RECORD_BYTES", 1_024, 8_388_608],
  commitBytes: ["HOLDFAST_COMMIT_BYTES", 1_024, 1_073_741_824],
  headerBytes: ["HOLDFAST_HEADER_BYTES", 1_024, 1_048_576],
  headerCount: ["HOLDFAST_HEADER_COUNT", 10, 10_000],
  headersMs: ["HOLDFAST_HEADERS_MS", 100, 600_000],
  requestMs: ["HOLDFAST_REQUEST_MS", 100, 3_600_000],
  rateSk: ["HOLDFAST_RATE_SK", 0, 1_000_000],
  rateRk: ["HOLDFAST_RATE_RK", 0, 1_000_000],
  rateEk: ["HOLDFAST_RATE_EK", 0, 1_000_000],
  rateFailedAuth: ["HOLDFAST_RATE_FAILED_AUTH", 0, 1_000_000],
  inFlightSk: ["HOLDFAST_IN_FLIGHT_SK", 1, 1_000_000],
  inFlightRk: ["HOLDFAST_IN_FLIGHT_RK", 1, 1_000_000],
  inFlightEk: ["HOLDFAST_IN_FLIGHT_EK", 1, 1_000_000],
  waitingPerToken: ["HOLDFAST_WAITING", 0, 1_000_000],
  waitingMs: ["HOLDFAST_WAITING_MS", 0, 60_000],
  longPollsSk: ["HOLDFAST_LONG_POLLS_SK", 1, 1_000_000],
  longPollsRk: ["HOLDFAST_LONG_POLLS_RK", 1, 1_000_000],
  longPollsEk: ["HOLDFAST_LONG_POLLS_EK", 1, 1_000_000],
  socketsPerToken: ["HOLDFAST_SOCKETS_PER_TOKEN", 1, 1_000_000],
  answerBytesPerToken: ["HOLDFAST_ANSWER_BYTES_PER_TOKEN", 1_024, 1_073_741_824],
  answerBytes: ["HOLDFAST_ANSWER_BYTES", 0, 1_099_511_627_776],
  connections: ["HOLDFAST_CONNECTIONS", 1, 1_000_000],
  connectionsAnonymous: ["HOLDFAST_CONNECTIONS_ANONYMOUS", 1, 1_000_000],
  connectionsPerAddress: ["HOLDFAST_CONNECTIONS_PER_ADDRESS", 1, 1_000_000],
};

const readLimits = (text: (name: string) => string | undefined): Partial<ServerLimits> =>
  Object.fromEntries(
    Object.entries(limitSettings).flatMap(([limit, [name, min, max]]) => {
      const value = optionalInteger(name, text(name), min, max);
      return value === undefined ? [] : [[limit, value]];
    }),
  );

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

const optionalInteger = (name: string, text: string | undefined, min: number, max: number): number | undefined =>
  text === undefined ? undefined : integer(name, text, min, max);

function integer(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max} (got "${text}").`);
  return value;
}

function addressOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash !== "" || /^[^/]*\/\/[^/]*@/.test(text))
    throw new ConfigError(
      "HOLDFAST_PUBLIC_URL must be a URL like https://sync.example, without a user, query or fragment.",
    );
  return url.href.replace(/\/+$/, "");
}

function proxiesOf(text: string | undefined): TrustedProxies {
  if (text === undefined) return undefined;
  const trusted = /^[1-9]\d?$/.test(text) ? Number(text) : text.split(",").map((one) => one.trim());
  try {
    // A number would be taken for an address.
    if (/^\d+$/.test(text) && typeof trusted !== "number") throw new TypeError("out of range");
    createClientAddress(trusted);
  } catch {
    throw new ConfigError(
      `HOLDFAST_TRUST_PROXY must be the number of proxies before the server, or their addresses and networks separated by commas, like 10.0.0.0/8 (got "${text}").`,
    );
  }
  return trusted;
}

function originOf(text: string): string {
  const fault = faultOfOrigin(text);
  if (fault)
    throw new ConfigError(
      `HOLDFAST_ORIGINS must be origins as pages send them, separated by commas, like https://app.example, https://*.app.example or capacitor://localhost ("${text}": ${fault}).`,
    );
  return text;
}
