import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@holdfast/sdk/node";
import { newMasterKey, type RunningServer, startEmbeddedPostgres, startServer } from "@holdfast/server";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { copyFiles, copyRunning, cuttableWay, hasStarted, newDirectory, promote } from "./copied-postgres.ts";
import { schema } from "./people.ts";

const ADMIN = "admin_token_of_the_restored_database";
const cli = sourceProgram(fileURLToPath(new URL("../../packages/server/src/cli.ts", import.meta.url)));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function directory(): string {
  const { dataDir, remove } = newDirectory();
  closing.push(remove);
  return dataDir;
}

async function postgresIn(dataDir: string, settings: Record<string, string> = {}) {
  const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: "off", ...settings } });
  closing.push(() => postgres.stop());
  return postgres;
}

async function query<T>(url: string, text: string): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ value: T }>(text)).rows[0]?.value as T;
  } finally {
    await client.end();
  }
}

const logIdsOf = (url: string) =>
  query<string>(url, "select string_agg(log_id, ',' order by tenant) as value from holdfast.head");

/** A server, perhaps one after the other on different databases, and a client that stays. */
async function startSetup(databaseUrl: string) {
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
  closing.push(stop);
  const url = `http://127.0.0.1:${port}`;
  let key = ADMIN;

  async function request(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  }

  const { id } = await request("POST", "/v1/organizations", { name: "ours" });
  const { token } = await request("POST", "/v1/secret_keys", { organization: id, livemode: true });
  key = String(token);
  await request("POST", "/v1/schema", schema);
  const client = createClient({ schema, url, getToken: () => key });
  closing.push(() => client.close());
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

async function agrees({ shown, rows, pending }: Setup): Promise<void> {
  await until(async () => {
    expect(pending()).toBe(0);
    expect(shown()).toEqual(await rows());
  });
}

/** Creates the rows of every backup: two rows that the client has. */
async function begin(setup: Setup): Promise<void> {
  await setup.write("kept", "as it was");
  await setup.client.models.slide.create({ deckId: "d1", title: "mine" }, { id: "own" }).receipt;
  await until(() => expect(setup.shown()).toEqual({ kept: "as it was", own: "mine" }));
}

/** Makes changes that no backup has: rows that the client has, and a granted claim. */
async function resume(setup: Setup): Promise<number> {
  await setup.request("PATCH", "/v1/models/slide/kept", { data: { title: "lost" } });
  await setup.write("lost", "lost");
  await until(() => expect(setup.shown()).toMatchObject({ kept: "lost", lost: "lost" }));
  return await setup.claim("own");
}

test("[O19] [R13] after a standby is promoted under a running server, clients have its rows and offer their unsent writes", async () => {
  const [first, second] = [directory(), directory()];
  const primary = await postgresIn(first);
  const standbyUrl = primary.url.replace(encodeURIComponent(first), encodeURIComponent(second));
  const hostOf = (url: string) => /@([^/]*)\//.exec(url)?.[1] as string;
  const setup = await startSetup(
    primary.url.replace(hostOf(primary.url), `${hostOf(primary.url)},${hostOf(standbyUrl)}`),
  );
  await begin(setup);
  const before = await logIdsOf(primary.url);

  await copyRunning(primary.url, first, second, "standby.signal");
  const way = await cuttableWay(primary.url);
  const password = decodeURIComponent(new URL(primary.url).password);
  // Its start resolves only after the promotion.
  const standby = postgresIn(second, {
    primary_conninfo: `host=${way.host} port=5432 user=holdfast password=${password}`,
    // The control file has the new timeline only after the next checkpoint, which is slow, so nothing may wait for it.
    checkpoint_timeout: "1h",
    checkpoint_completion_target: "1",
  });
  standby.catch(() => {});
  await query(
    primary.url,
    "create table public.much_to_write as select repeat('x', 7000) as page from generate_series(1, 300)",
  );
  const isBehind = "select bool_or(replay_lsn = pg_current_wal_lsn()) is not true as value from pg_stat_replication";
  await until(async () => expect(await query<boolean>(primary.url, isBehind)).toBe(false));
  way.cut();

  const lostFence = await resume(setup);
  await primary.stop();
  setup.client.models.slide.create({ deckId: "d1", title: "unsent" }, { id: "unsent" });
  expect(hasStarted(second)).toBe(true);
  promote(second);
  await standby;
  // The same positions as those that were lost.
  await until(() => setup.write("new", "new"));
  await setup.write("newer", "newer");
  await agrees(setup);
  expect(setup.shown()).toEqual({ kept: "as it was", own: "mine", unsent: "unsent", new: "new", newer: "newer" });
  expect(await logIdsOf(standbyUrl)).not.toBe(before);
  expect(await setup.claim("own")).toBeGreaterThan(lostFence);
});

test("[O19] a restored base backup has new log ids before the first response", async () => {
  const [first, second] = [directory(), directory()];
  const primary = await postgresIn(first);
  const setup = await startSetup(primary.url);
  await begin(setup);
  const before = await logIdsOf(primary.url);
  await copyRunning(primary.url, first, second, "recovery.signal");
  const lostFence = await resume(setup);
  await setup.stop();
  await primary.stop();

  setup.client.models.slide.create({ deckId: "d1", title: "unsent" }, { id: "unsent" });
  const restored = await postgresIn(second, { restore_command: "false" });
  await setup.start(restored.url);
  expect(await logIdsOf(restored.url)).not.toBe(before);
  await setup.write("new", "new");
  await setup.write("newer", "newer");
  await agrees(setup);
  expect(setup.shown()).toEqual({ kept: "as it was", own: "mine", unsent: "unsent", new: "new", newer: "newer" });
  expect(await setup.claim("own")).toBeGreaterThan(lostFence);
  // Only once: a later start on the same database keeps the log ids.
  const after = await logIdsOf(restored.url);
  await setup.stop();
  await setup.start(restored.url);
  expect(await logIdsOf(restored.url)).toBe(after);
});

test("[O20] a cold copy goes unnoticed; `holdfast log renew` gives its logs new ids, also while a server runs", async () => {
  const [first, second] = [directory(), directory()];
  const primary = await postgresIn(first);
  const setup = await startSetup(primary.url);
  await begin(setup);
  const before = await logIdsOf(primary.url);
  await setup.stop();
  await primary.stop();
  copyFiles(first, second);

  const again = await postgresIn(first);
  await setup.start(again.url);
  const lostFence = await resume(setup);
  await setup.stop();
  await again.stop();

  const copy = await postgresIn(second);
  await setup.start(copy.url);
  expect(await logIdsOf(copy.url)).toBe(before);
  await setup.write("new", "new");
  await setup.write("newer", "newer");
  const { stdout } = await promisify(execFile)(process.execPath, [...cli.flags, cli.file, "log", "renew"], {
    env: { PATH: process.env.PATH, DATABASE_URL: copy.url },
    cwd: fileURLToPath(new URL("../../packages/server", import.meta.url)),
  });
  expect(stdout).toContain("gave 2 logs new ids");
  await agrees(setup);
  expect(setup.shown()).toEqual({ kept: "as it was", own: "mine", new: "new", newer: "newer" });
  expect(await setup.claim("own")).toBeGreaterThan(lostFence);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
