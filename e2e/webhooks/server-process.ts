// The server, from our sources or a copy of them, with the short times of a run: some of them no environment variable sets.
import { pathToFileURL } from "node:url";
import type { RunningServer, ServerOptions } from "@holdfast/server";

export interface ServerTimes {
  readonly scheduleMs: readonly number[];
  readonly rotationMs: number;
  readonly leaseMs: number;
  readonly requestMs: number;
  readonly connectMs: number;
}

/** What is handed over in WEBHOOK_PLAN. */
export interface SenderPlan {
  /** The server's `server.ts`. */
  readonly sources: string;
  readonly databaseUrl: string;
  readonly adminToken: string;
  /** In base64. */
  readonly masterKey: string;
  readonly times: ServerTimes;
}

const { sources, databaseUrl, adminToken, masterKey, times } = JSON.parse(
  process.env.WEBHOOK_PLAN ?? "{}",
) as SenderPlan;
const { startServer } = (await import(pathToFileURL(sources).href)) as {
  startServer(options: ServerOptions): Promise<RunningServer>;
};
const server = await startServer({
  databaseUrl,
  adminToken,
  port: Number(process.env.PORT ?? 0),
  masterKeys: [Buffer.from(masterKey, "base64")],
  webhooks: { allowPrivate: true, ...times },
} as ServerOptions);
process.stdout.write(`${JSON.stringify({ object: "listening", url: server.url })}\n`);
process.on("SIGTERM", () => void server.close().then(() => process.exit(0)));
