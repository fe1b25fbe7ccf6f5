import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@holdfast/sdk/node";
import { newMasterKey, type RunningServer, startServer } from "@holdfast/server";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { expect, onTestFinished } from "vitest";
import { runSql } from "../../packages/server/src/testing/run-sql.ts";
import { until } from "../../scripts/testing/until.ts";
import { ADMIN, operatorOf } from "./operated-server.ts";
import { schema } from "./people.ts";

const cli = sourceProgram(fileURLToPath(new URL("../../packages/server/src/cli.ts", import.meta.url)));

export async function query<T>(url: string, text: string): Promise<T> {
  return (await runSql<{ value: T & object }>(url, text))[0]?.value as T;
}

export const logIdsOf = (url: string) =>
  query<string>(url, "select string_agg(log_id, ',' order by tenant) as value from holdfast.head");

/** A server, perhaps one after the other on different databases, and a client that stays. */
export async function startSetup(databaseUrl: string) {
  const port = await freePort();
  const masterKeys = [newMasterKey()];
  let server: RunningServer | undefined;
  const start = async (databaseUrl: string) => {
    server = await startServer({ databaseUrl, adminToken: ADMIN, masterKeys, port });
  };
  const stop = async () => {
    await server?.close();
    server = undefined;
  };
  await start(databaseUrl);
  onTestFinished(stop);
  const url = `http://127.0.0.1:${port}`;
  const operator = operatorOf(url);
  const key = await operator.secretKey(await operator.organization("ours"));
  const request = (method: string, path: string, body?: unknown) => operator.request(method, path, body, key);
  await request("POST", "/v1/schema", schema);
  const client = createClient({ schema, url, getToken: () => key });
  onTestFinished(() => client.close());
  await client.ready();

  return {
    start,
    stop,
    request,
    client,
    /** Writes as another client. */
    write: (id: string, title: string) => request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title } }),
    claim: async (id: string) =>
      Number((await request("POST", "/v1/claims", { target: { model: "slide", id }, ttl: "5m" })).fence),
    shown: () => Object.fromEntries(client.models.slide.list().map(({ id, title }) => [id, title])),
    /** The server's rows. */
    async rows() {
      const { data } = (await request("GET", "/v1/models/slide?limit=100")) as unknown as {
        data: { id: string; title: string }[];
      };
      return Object.fromEntries(data.map(({ id, title }) => [id, title]));
    },
    pending: () => client.status().pending,
  };
}

type Setup = Awaited<ReturnType<typeof startSetup>>;

export async function agrees({ shown, rows, pending }: Setup): Promise<void> {
  await until(async () => {
    expect(pending()).toBe(0);
    expect(shown()).toEqual(await rows());
  });
}

/** Creates the rows of every backup: two rows that the client has. */
export async function begin(setup: Setup): Promise<void> {
  await setup.write("kept", "as it was");
  await setup.client.models.slide.create({ deckId: "d1", title: "mine" }, { id: "own" }).receipt;
  await until(() => expect(setup.shown()).toEqual({ kept: "as it was", own: "mine" }));
}

/** Makes changes that no backup has: rows that the client has, and a granted claim. */
export async function resume(setup: Setup): Promise<number> {
  await setup.request("PATCH", "/v1/models/slide/kept", { data: { title: "lost" } });
  await setup.write("lost", "lost");
  await until(() => expect(setup.shown()).toMatchObject({ kept: "lost", lost: "lost" }));
  return await setup.claim("own");
}

/** Runs `holdfast log renew`, and returns what it prints. */
export async function renewLogs(databaseUrl: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...cli.flags, cli.file, "log", "renew"], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    cwd: fileURLToPath(new URL("../../packages/server", import.meta.url)),
  });
  return stdout;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
