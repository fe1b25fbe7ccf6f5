import { join } from "node:path";
import { type ServerLimits, serverLimits, webhookLimits } from "@holdfast/sdk/protocol";
import type { pino } from "pino";
import { type Config, ConfigError, limitSettings, readConfig, TOKEN } from "./config.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres/embedded-postgres.ts";
import { endWithNpm } from "./end-with-npm.mjs";
import { base62 } from "./ids.ts";
import { keepKeys, keepMasterKey, keepSecret } from "./keep-secret.ts";
import { hasHead } from "./kernel/commits/db/heads.ts";
import { readOwnService } from "./kernel/connection/database-owner.ts";
import { migrate } from "./kernel/connection/migrate.ts";
import { createPool } from "./kernel/connection/pool.ts";
import { pushSchema } from "./kernel/schema/flows/push-schema.ts";
import { ensureConfiguredKey } from "./kernel/tokens/flows/ensure-configured-key.ts";
import { loadModules } from "./load-modules.ts";
import { builtInHooks } from "./modules/open-modules.ts";
import { readSchemaFile, schemaTrouble } from "./schema-file.ts";
import { listenWhileStarting, newMasterKey, newSecretToken, startServer } from "./server.ts";
import { listeningLine, openServerLog } from "./server-log.ts";
import { startTrouble } from "./start-trouble.ts";

const STOP_MS = 10_000;

const HELP = `Usage: holdfast [--env-file <file>] [--new-key [test] | --new-master-key | --help]
       holdfast init          makes the tables of an app that you have live
       holdfast <command>     manages a server: schema, keys, log, webhooks, dump …; see "holdfast help"

Runs the Holdfast server. Once it listens, it prints one line of JSON to stdout. Its log goes to stderr.

  --env-file <file>      a file with variables of the environment below (default: .env, if it sets one that begins with
                         HOLDFAST_); those that are set already stay
  --new-key [test]       print a new secret key for HOLDFAST_SECRET_KEY, and exit
  --new-master-key       print a new HOLDFAST_MASTER_KEY, and exit

Environment (all optional):
  HOST, PORT             address and port to listen on: 127.0.0.1, 8787 (0: any free port)
  DATABASE_URL           a Postgres 15 or later; with several hosts separated by commas, the one that accepts writes;
                         without it, an embedded Postgres runs in HOLDFAST_DATA_DIR
  HOLDFAST_DATA_DIR      directory for the embedded Postgres and generated keys: .holdfast
  HOLDFAST_SECRET_KEY    sk_ key of the first organization; required with DATABASE_URL, else generated and stored in keys.json
  HOLDFAST_ADMIN_TOKEN   token for the operator routes; required for them with DATABASE_URL, else generated and stored in admin-token
  HOLDFAST_MASTER_KEY    32 bytes in base64 that encrypt stored secrets (several: newest first, separated by commas);
                         required with DATABASE_URL, else generated and stored in master-key
  HOLDFAST_WEBHOOK_ALLOW_PRIVATE
                         1: allow webhooks to http and to private addresses
  HOLDFAST_WEBHOOK_SCHEDULE
                         waits before each of the 8 attempts, in milliseconds: ${webhookLimits.schedule.join(",")}
  HOLDFAST_WEBHOOK_ROTATION_SECONDS
                         how long the old signing secret still signs after a roll: ${webhookLimits.rotationMs / 1_000}
  HOLDFAST_SCHEMA        a JSON file with models to push at startup
  HOLDFAST_MODULES       files (./…) and packages with modules of your own, separated by commas (experimental)
  HOLDFAST_ORIGINS       allowed origins of pages, separated by commas: https://app.example,
                         https://*.app.example, capacitor://localhost; without it, only loopback
  HOLDFAST_PUBLIC_URL    the URL for links in errors and /openapi.json; without it, the address it listens on
  HOLDFAST_TRUST_PROXY   proxies whose X-Forwarded-For is trusted: their number, or their addresses and networks
                         separated by commas; without it, none
  HOLDFAST_LANE_COMMITS  maximum number of commits in one transaction: 128
  HOLDFAST_DATABASE_CONNECTIONS
                         connections for everything except commits, tokens and hints: 10
  HOLDFAST_DATABASE_AUTH_CONNECTIONS
                         connections for token lookups: 2
  HOLDFAST_DATABASE_WAIT_MS
                         how long a request waits for a connection: 5000
  HOLDFAST_DATABASE_LOCK_MS
                         how long a round waits for a head that another process has locked, before that tenant moves
                         to another connection: 40
  HOLDFAST_CACHE_MEGABYTES
                         memory for cached schemas, tokens and heads: 128
  HOLDFAST_LOG_RETENTION_DAYS
                         delete log entries that are older; without it, the log is kept completely
  HOLDFAST_METRICS_TOKEN token for /metrics
  HOLDFAST_METRICS_LOOPBACK
                         1: without a token, programs on this machine can read /metrics; else it is off
  HOLDFAST_LOG_LEVEL     minimum level of log messages: info
  HOLDFAST_LOG_FORMAT    json or text; without it, text on a terminal and JSON elsewhere

Limits per token and process. A rate of 0 means no limit; a burst can be twice the rate:
${limitLines()}
`;

/** Name and usual value of every limit that can be set. */
function limitLines(): string {
  return Object.entries(limitSettings)
    .map(([limit, [name]]) => `  ${name.padEnd(27)} ${serverLimits[limit as keyof ServerLimits]}`)
    .join("\n");
}

async function run(words: readonly string[]): Promise<void> {
  if (words.includes("--help") || words.includes("-h")) return void process.stdout.write(HELP);
  if (words[0] === "--new-key") return void process.stdout.write(`${newSecretToken(words[1] !== "test")}\n`);
  if (words[0] === "--new-master-key") return void process.stdout.write(`${newMasterKey()}\n`);
  if (words.length > 0) throw new ConfigError(`"${words[0]}" is not an option. See --help.`);
  const config = readConfig(process.env);
  const logger = openServerLog(config);
  for (const name of config.unknown)
    logger.warn({ event: "unknown_setting", name }, `${name} is not a setting of the server. See --help.`);
  const closing: (() => Promise<void>)[] = [];
  const stop = stopOnce(closing, () => logger.flush());
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop(0));
  endWithNpm();
  try {
    const { host, origins, publicUrl } = config;
    const starting = await listenWhileStarting({
      ...{ host, port: config.port, origins, publicUrl },
      logger: logger.child({ event: "starting" }, { level: "warn" }),
    });
    closing.push(starting.close);
    const modules = await loadModules(config.modules, process.cwd());
    const embedded = config.databaseUrl === undefined ? await startEmbedded(config, logger) : undefined;
    if (embedded) closing.push(() => embedded.stop());
    const databaseUrl = config.databaseUrl ?? (embedded as EmbeddedPostgres).url;
    const masterKeys = config.masterKeys ?? [await keepMasterKey(config.dataDir)];
    const adminToken = config.adminToken ?? (await keepAdminToken(config));
    const elsewhere = await prepare(config, databaseUrl, logger);
    const server = await startServer({
      modules,
      databaseUrl,
      adminToken,
      masterKeys,
      metricsToken: config.metricsToken,
      metricsLoopback: config.metricsLoopback,
      webhooks: config.webhooks,
      datasourcesAllowPrivate: config.datasourcesAllowPrivate,
      database: config.database,
      host,
      port: starting.port,
      beforeListening: starting.close,
      origins,
      publicUrl,
      trustProxy: config.trustProxy,
      limits: config.limits,
      laneCommits: config.laneCommits,
      logRetentionDays: config.logRetentionDays,
      logger,
    });
    closing.push(server.close);
    for (const key of elsewhere) await pushOver(server.url, key, config.schemaFile as string, logger);
    process.stdout.write(listeningLine(server.url, config.logFormat, process.stdout));
  } catch (error) {
    await stop(undefined);
    throw error;
  }
}

const startEmbedded = (config: Config, logger: pino.Logger) =>
  startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: {
      info: (message: string) => logger.info({ event: "postgres" }, message),
      warn: (message: string) => logger.warn({ event: "postgres" }, message),
      error: (message: string) => logger.error({ event: "postgres" }, message),
    },
  });

/** Beside the embedded Postgres it is made and kept; with `DATABASE_URL`, unset means that no one is the operator. */
const keepAdminToken = async (config: Config): Promise<string> =>
  config.databaseUrl === undefined
    ? await keepSecret(join(config.dataDir, "admin-token"), () => `admin_${base62(40)}`, TOKEN)
    : base62(40);

/**
 * The first organization, the keys that open it, and the schema that was asked for, before anybody may call. Returns the
 * keys of tenants that live in another database: their schema is still to be pushed.
 */
async function prepare(config: Config, databaseUrl: string, logger: pino.Logger): Promise<string[]> {
  await migrate(databaseUrl);
  const pool = createPool({ url: databaseUrl, maxConnections: 2 });
  try {
    await readOwnService(pool);
    const tokens = config.secretKey === undefined ? await firstKeys(config, logger) : [config.secretKey];
    const elsewhere: string[] = [];
    for (const token of tokens) {
      const { tenant } = await ensureConfiguredKey(pool, builtInHooks.tokensEnded, token);
      if (config.schemaFile === undefined) continue;
      if (await hasHead(pool, tenant)) await pushFile(pool, tenant, config.schemaFile);
      else elsewhere.push(token);
    }
    return elsewhere;
  } finally {
    await pool.end();
  }
}

async function firstKeys(config: Config, logger: pino.Logger): Promise<readonly string[]> {
  const file = join(config.dataDir, "keys.json");
  const keys = await keepKeys(file);
  logger.info({ event: "keys", file }, "This file contains the secret keys of the first organization.");
  return keys;
}

/** Through the server, which knows the tenant's database. If that is away, the schema in force stays. */
async function pushOver(url: string, key: string, file: string, logger: pino.Logger): Promise<void> {
  const response = await fetch(`${url}/v1/schema`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(await readSchemaFile(file)),
  });
  const answer = (await response.json()) as { code?: string; message?: string };
  if (!response.ok)
    logger.warn(
      { event: "schema_not_pushed", file, code: answer.code },
      `The schema was not pushed: ${answer.message}`,
    );
}

async function pushFile(pool: Parameters<typeof pushSchema>[0], tenant: number, file: string): Promise<void> {
  const result = await pushSchema(pool, builtInHooks, tenant, await readSchemaFile(file));
  if ("code" in result) throw schemaTrouble(file, result);
}

/** Closes everything, last opened first; a second signal, or ten seconds, ends it at once. */
function stopOnce(closing: (() => Promise<void>)[], flush: () => void) {
  let begun = false;
  return async (code: number | undefined): Promise<void> => {
    if (begun) process.exit(1);
    begun = true;
    setTimeout(() => process.exit(1), STOP_MS).unref();
    for (const close of closing.reverse()) await close();
    flush();
    if (code !== undefined) process.exit(code);
  };
}

run(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(`holdfast: ${startTrouble(error) ?? error.stack ?? error.message}\n`);
  process.exitCode = 1;
});
