import { webhookLimits } from "@holdfast/sdk/protocol";
import { ask } from "./cli/ask.ts";
import { runOnce } from "./cli/init/run-once.ts";
import { createProgram } from "./cli/program.ts";
import type { DatabaseOptions } from "./cli/terminal.ts";
import { UsageError } from "./cli/usage-error.ts";
import { readConfig } from "./config.ts";
import { attachEmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres/embedded-postgres.ts";
import { createEncryption, newMasterKey } from "./encryption.ts";
import { keepMasterKey } from "./keep-secret.ts";
import { readOwnService } from "./kernel/connection/database-owner.ts";
import { migrate } from "./kernel/connection/migrate.ts";
import { createPool, type Database } from "./kernel/connection/pool.ts";
import { renewLogs } from "./kernel/log/flows/log-epoch.ts";
import { DumpError, dumpOrganization, restoreOrganization } from "./kernel/organizations/flows/dump.ts";
import { newSecretToken } from "./kernel/tokens/flows/secret-keys.ts";
import { DatabaseError, operatorDatabases } from "./modules/databases/flows/operator-databases.ts";
import { readPlacesOfAll } from "./modules/databases/flows/recover-tenant.ts";
import { datasourceReach } from "./modules/databases/reach.ts";
import { builtInHooks } from "./modules/open-modules.ts";
import { SourceError } from "./modules/sources/flows/verify-source.ts";
import { withSourceTools } from "./modules/sources/tools.ts";
import { TableError } from "./modules/tables/flows/table-error.ts";
import { openTableTools } from "./modules/tables/flows/table-tools.ts";
import { createWebhookSender } from "./modules/webhooks/send-webhook.ts";
import { startTrouble } from "./start-trouble.ts";

/**
 * Runs work on the database that the server would run on: `DATABASE_URL`, or the embedded one, running or not. It is
 * migrated first, unless the work leaves it as it is.
 */
async function withDatabase<T>(
  work: (db: Database, url: string) => Promise<T>,
  { migrates = true, databaseUrl: given }: DatabaseOptions = {},
): Promise<T> {
  const env = given === undefined ? process.env : { ...process.env, DATABASE_URL: given };
  const { databaseUrl, dataDir } = readConfig(env, { needsKey: false });
  const attached = databaseUrl ?? attachEmbeddedPostgres(dataDir);
  const embedded = attached === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  try {
    const url = attached ?? (embedded?.url as string);
    if (migrates) await migrate(url);
    const pool = createPool({ url, maxConnections: 1 });
    try {
      return await work(pool, url);
    } finally {
      await pool.end();
    }
  } finally {
    await embedded?.stop();
  }
}

/** The server's, for what it has to read in clear. */
async function encryptionOf() {
  const { masterKeys, dataDir } = readConfig(process.env, { needsKey: false });
  const keys = masterKeys ?? [await keepMasterKey(dataDir)];
  return createEncryption(keys.map((key) => Buffer.from(key, "base64")));
}

/** `npm run` passes a signal on that reached us without it too: what comes so soon is the same one. */
const SAME_SIGNAL_MS = 500;

/** The first signal asks for an orderly end; the second one ends at once. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  let at = 0;
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      if (controller.signal.aborted && performance.now() - at > SAME_SIGNAL_MS) process.exit(1);
      if (!controller.signal.aborted) at = performance.now();
      controller.abort();
    });
  return controller.signal;
}

const reach = () => datasourceReach(readConfig(process.env, { needsKey: false }).datasourcesAllowPrivate);

const program = createProgram({
  env: process.env,
  out: (text) => process.stdout.write(text),
  say: (line) => process.stderr.write(`${line}\n`),
  interrupted,
  openSender: () => createWebhookSender({ ...webhookLimits, allowPrivate: true }),
  dump: (organization, write) => withDatabase((db) => dumpOrganization(db, builtInHooks.places, organization, write)),
  renewLogs: () => withDatabase(renewLogs),
  restore: (lines, options) => withDatabase((db) => restoreOrganization(db, builtInHooks, lines, options)),
  withTables: (work, options) => withDatabase((db, url) => work(openTableTools(db, builtInHooks, url)), options),
  runningDatabase: () => {
    const { databaseUrl, dataDir } = readConfig(process.env, { needsKey: false });
    return databaseUrl ?? attachEmbeddedPostgres(dataDir);
  },
  withSources: (work) =>
    withDatabase(async (db, url) => {
      const { datasourcesAllowPrivate: allowPrivate } = readConfig(process.env, { needsKey: false });
      const service = await readOwnService(db);
      const encryption = await encryptionOf();
      const places = await readPlacesOfAll({ db, url, service, encryption, reach: reach() });
      return withSourceTools({ places, encryption, allowPrivate, modules: builtInHooks.inRounds }, work);
    }),
  withDatabases: (work) =>
    withDatabase(async (db, url) => work(operatorDatabases(db, await encryptionOf(), url, reach()))),
  runOnce: (file, env) => runOnce(file, { folder: process.cwd(), env }),
  newSecretKey: () => newSecretToken(true),
  newMasterKey,
  folder: process.cwd(),
  ask: process.stdin.isTTY ? ask : undefined,
});

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
program.parseAsync().catch((error: Error) => {
  const isPlain = [UsageError, DumpError, TableError, SourceError, DatabaseError].some((kind) => error instanceof kind);
  const text = isPlain ? error.message : (startTrouble(error) ?? error.stack ?? error.message);
  process.stderr.write(`holdfast: ${text}\n`);
  process.exitCode = 1;
});
