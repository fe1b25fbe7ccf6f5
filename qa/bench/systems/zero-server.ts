import { spawn } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmbeddedPostgres } from "@holdfast/server";
import { freePort } from "../../support/free-port.ts";
import { type Installed, slideRows } from "./system.ts";
import { type Tx, zeroModel } from "./zero-model.ts";

interface ZeroServer {
  handleMutateRequest(of: object): Promise<object>;
  handleQueryRequest(of: object): Promise<object>;
}

/** zero-cache on a Postgres of its own. Queries and mutators are answered by an app in this process. */
export async function serveZero(installed: Installed, rows: number, folder: string): Promise<{ readonly url: string }> {
  const { schema, mutators, queries } = await zeroModel(installed);
  const file = (name: string) => installed.import("@rocicorp/zero", `out/zero/src/${name}.js`);
  const { handleMutateRequest, handleQueryRequest } = (await file("server")) as ZeroServer;
  const { zeroPostgresJS } = (await file("adapters/postgresjs")) as {
    zeroPostgresJS(schema: object, sql: unknown): object;
  };
  // Its clients of Postgres take no address of a socket. In a folder with a name too long for one, Postgres listens on 127.0.0.1.
  const dataDir = join(folder, "postgres".padEnd(100, "-"));
  const postgres = await startEmbeddedPostgres({ dataDir, settings: { wal_level: "logical" } });
  const connect = installed.require("postgres") as (url: string) => {
    unsafe(text: string, values?: unknown[]): Promise<unknown>;
  };
  const sql = connect(postgres.url);
  await sql.unsafe(
    `create table slide (id text primary key, "deckId" text not null, title text not null, notes text not null)`,
  );
  await sql.unsafe(`insert into slide select * from json_populate_recordset(null::slide, $1::text::json)`, [
    JSON.stringify([...slideRows(rows)]),
  ]);
  const dbProvider = zeroPostgresJS(schema, sql);

  async function answered(path: string, query: URLSearchParams, body: unknown): Promise<object> {
    const asked = { query, body, userID: "ann" };
    if (path === "/query")
      return handleQueryRequest({
        ...asked,
        schema,
        handler: (_: string, args: unknown) => queries.slides.fn({ args, ctx: {} }),
      });
    return handleMutateRequest({
      ...asked,
      dbProvider,
      handler: (transact: (run: (tx: Tx, name: string, args: unknown) => Promise<void>) => Promise<unknown>) =>
        transact((tx, _, args) => mutators.create.fn({ tx, args, ctx: {} })),
    });
  }
  const app = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://app");
    void bodyOf(request)
      .then((body) => answered(pathname, searchParams, body))
      .then((answer) => response.setHeader("content-type", "application/json").end(JSON.stringify(answer)));
  });
  const [appPort, port] = [await freePort(), await freePort()];
  await new Promise<void>((resolve) => app.listen(appPort, "127.0.0.1", resolve));
  const cache = spawn(process.execPath, [join(installed.folder, "node_modules/@rocicorp/zero/out/zero/src/cli.js")], {
    stdio: "ignore",
    cwd: folder,
    env: {
      ...process.env,
      ZERO_UPSTREAM_DB: postgres.url,
      ZERO_REPLICA_FILE: join(folder, "replica.db"),
      ZERO_PORT: String(port),
      ZERO_MUTATE_URL: `http://127.0.0.1:${appPort}/mutate`,
      ZERO_QUERY_URL: `http://127.0.0.1:${appPort}/query`,
      ZERO_LOG_LEVEL: "warn",
      ZERO_ADMIN_PASSWORD: "bench",
      DO_NOT_TRACK: "1",
    },
  });
  // It has processes of its own, which it ends at once at this signal.
  process.once("SIGTERM", () => {
    cache.once("exit", () => void postgres.stop().then(() => process.exit(0)));
    if (!cache.kill("SIGQUIT")) process.exit(1);
  });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/keepalive`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (cache.exitCode !== null) throw new Error(`zero-cache ended with ${cache.exitCode}.`);
    await pause(100);
  }
  return { url };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}
