import { hasValidChecksum, isSecretKey } from "./rules/token.ts";

/** The environment, read once. What makes no sense is refused with a sentence. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly secretKey: string | undefined;
  readonly adminToken: string | undefined;
  readonly schemaFile: string | undefined;
  /** Undefined: loopback origins only. */
  readonly origins: readonly string[] | undefined;
  /** Undefined: the address it listens on. */
  readonly publicUrl: string | undefined;
  readonly laneCommits: number | undefined;
  /** Undefined: the log is kept whole. */
  readonly logRetentionDays: number | undefined;
  readonly logLevel: string;
}

/** A setting that cannot be used, said in a sentence: no stack trace helps whoever reads it. */
export class ConfigError extends Error {}

export function readConfig(env: Readonly<Record<string, string | undefined>>, { needsKey = true } = {}): Config {
  const text = (name: string) => (env[name] === undefined || env[name] === "" ? undefined : env[name]);
  const databaseUrl = text("DATABASE_URL");
  const secretKey = text("HOLDFAST_SECRET_KEY");
  const adminToken = text("HOLDFAST_ADMIN_TOKEN");
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl))
    throw new ConfigError("DATABASE_URL has to begin with postgres://.");
  if (needsKey && databaseUrl !== undefined && secretKey === undefined)
    throw new ConfigError(
      "With DATABASE_URL, set HOLDFAST_SECRET_KEY to the first organisation's key (npm run server -- --new-key prints one).",
    );
  if (secretKey !== undefined && !(hasValidChecksum(secretKey) && isSecretKey(secretKey)))
    throw new ConfigError(
      "HOLDFAST_SECRET_KEY is no sk_live_ or sk_test_ key, or its checksum is wrong (npm run server -- --new-key prints one).",
    );
  if (adminToken !== undefined && !/^[\x21-\x7e]{16,512}$/.test(adminToken))
    throw new ConfigError("HOLDFAST_ADMIN_TOKEN needs 16 to 512 visible ASCII characters.");
  const level = text("HOLDFAST_LOG_LEVEL") ?? "info";
  if (!LEVELS.includes(level)) throw new ConfigError(`HOLDFAST_LOG_LEVEL is one of ${LEVELS.join(", ")}.`);
  return {
    host: text("HOST") ?? "127.0.0.1",
    port: integer("PORT", text("PORT") ?? "8787", 0, 65_535),
    databaseUrl,
    dataDir: text("HOLDFAST_DATA_DIR") ?? ".holdfast",
    secretKey,
    adminToken,
    schemaFile: text("HOLDFAST_SCHEMA"),
    origins: text("HOLDFAST_ORIGINS")
      ?.split(",")
      .map((origin) => originOf(origin.trim())),
    publicUrl: addressOf(text("HOLDFAST_PUBLIC_URL")),
    laneCommits: optionalInteger("HOLDFAST_LANE_COMMITS", text("HOLDFAST_LANE_COMMITS"), 1, 1_000),
    logRetentionDays: optionalInteger("HOLDFAST_LOG_RETENTION_DAYS", text("HOLDFAST_LOG_RETENTION_DAYS"), 1, 36_500),
    logLevel: level,
  };
}

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

const optionalInteger = (name: string, text: string | undefined, min: number, max: number): number | undefined =>
  text === undefined ? undefined : integer(name, text, min, max);

function integer(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new ConfigError(`${name} is a whole number from ${min} to ${max}, not "${text}".`);
  return value;
}

function addressOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username + url.password !== "")
    throw new ConfigError(`HOLDFAST_PUBLIC_URL is an address like https://sync.example, not "${text}".`);
  return url.href.replace(/\/+$/, "");
}

function originOf(text: string): string {
  if (!URL.canParse(text) || new URL(text).origin !== text)
    throw new ConfigError(`HOLDFAST_ORIGINS takes origins like https://app.example, not "${text}".`);
  return text;
}
