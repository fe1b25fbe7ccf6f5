import { webhookLimits } from "@holdfast/sdk/protocol";
import { createProgram } from "./cli/program.ts";
import { UsageError } from "./cli/usage-error.ts";
import { readConfig } from "./config.ts";
import { migrate } from "./db/connection/migrate.ts";
import { createPool, type Database } from "./db/connection/pool.ts";
import { attachEmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres/embedded-postgres.ts";
import { renewLogs } from "./flows/log/log-epoch.ts";
import { DumpError, dumpOrganization, restoreOrganization } from "./flows/organizations/dump.ts";
import { createWebhookSender } from "./outbound/send-webhook.ts";
import { startTrouble } from "./start-trouble.ts";

/** Runs work on the database that the server would run on: `DATABASE_URL`, or the embedded one, running or not. */
async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDir } = readConfig(process.env, { needsKey: false });
  const attached = databaseUrl ?? attachEmbeddedPostgres(dataDir);
  const embedded = attached === undefined ? await startEmbeddedPostgres({ dataDir }) : undefined;
  try {
    const url = attached ?? (embedded?.url as string);
    await migrate(url);
    const pool = createPool({ url, maxConnections: 1 });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  } finally {
    await embedded?.stop();
  }
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

const program = createProgram({
  env: process.env,
  out: (text) => process.stdout.write(text),
  say: (line) => process.stderr.write(`${line}\n`),
  interrupted,
  openSender: () => createWebhookSender({ ...webhookLimits, allowPrivate: true }),
  dump: (organization, write) => withDatabase((db) => dumpOrganization(db, organization, write)),
  renewLogs: () => withDatabase(renewLogs),
  restore: (lines, options) => withDatabase((db) => restoreOrganization(db, lines, options)),
});

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
program.parseAsync().catch((error: Error) => {
  const isPlain = [UsageError, DumpError].some((kind) => error instanceof kind);
  const text = isPlain ? error.message : (startTrouble(error) ?? error.stack ?? error.message);
  process.stderr.write(`holdfast: ${text}\n`);
  process.exitCode = 1;
});
