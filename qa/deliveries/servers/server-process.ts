// Runs the server from our sources or a copy, with the short times of a run, some of which have no environment variable.
import { pathToFileURL } from "node:url";
import type { RunningServer, ServerOptions, WebhookOptions } from "@holdfast/server";
import * as own from "@holdfast/server";

/** The content of WEBHOOK_PLAN. */
export interface SenderPlan {
  /** The `server.ts` of other sources than ours. */
  readonly sources?: string | undefined;
  readonly webhooks: Partial<WebhookOptions>;
}

const { DATABASE_URL = "", HOLDFAST_ADMIN_TOKEN = "", HOLDFAST_MASTER_KEY = "", PORT, WEBHOOK_PLAN } = process.env;
const { sources, webhooks } = JSON.parse(WEBHOOK_PLAN ?? "{}") as SenderPlan;
const { startServer } = (sources === undefined ? own : await import(pathToFileURL(sources).href)) as {
  startServer(options: ServerOptions): Promise<RunningServer>;
};
const server = await startServer({
  databaseUrl: DATABASE_URL,
  adminToken: HOLDFAST_ADMIN_TOKEN,
  masterKeys: [HOLDFAST_MASTER_KEY],
  port: Number(PORT ?? 0),
  webhooks,
});
process.stdout.write(`${JSON.stringify({ object: "listening", url: server.url })}\n`);
process.on("SIGTERM", () => void server.close().then(() => process.exit(0)));
