import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startEmbeddedPostgres } from "../../embedded-postgres/embedded-postgres.ts";
import { createPool } from "../../kernel/connection/pool.ts";
import { pushSchema } from "../../kernel/schema/flows/push-schema.ts";
import { ensureConfiguredKey } from "../../kernel/tokens/flows/ensure-configured-key.ts";
import { builtInHooks } from "../../modules/open-modules.ts";
import { newMasterKey, newSecretToken, startServer } from "../../server.ts";
import { type Call, caller, referenceSchema } from "../../testing/app.ts";
import { freshDatabase } from "../../testing/database.ts";

/** A Postgres of this file's own, to stop and to change as a whole. */
const own = await startEmbeddedPostgres({ throwaway: true });
const closing: (() => void | Promise<void>)[] = [() => own.stop()];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});
const client = new pg.Client({ connectionString: own.url, options: "-c default_transaction_read_only=off" });
await client.connect();
closing.push(() => client.end());

async function start(databaseUrl: string): Promise<Call> {
  const server = await startServer({
    databaseUrl,
    adminToken: "admin_of_the_tests",
    masterKeys: [newMasterKey()],
    port: 0,
  });
  closing.push(() => server.close());
  const pool = createPool({ url: databaseUrl, maxConnections: 1 });
  const key = newSecretToken(true);
  const { tenant } = await ensureConfiguredKey(pool, builtInHooks.tokensEnded, key);
  await pushSchema(pool, builtInHooks, tenant, referenceSchema);
  await pool.end();
  const callers: (() => void)[] = [];
  closing.push(() => {
    for (const close of callers) close();
  });
  return caller(server.url, key, callers);
}

let made = 0;
async function write(call: Call): Promise<number> {
  made += 1;
  return (await call("POST", "/v1/models/slide", { json: { id: `s${made}`, data: {} } })).status;
}
const readiness = async (call: Call) => (await call("GET", "/readyz")).status;

/** As an operator does it, while others are connected. */
async function setReadOnly(on: boolean): Promise<void> {
  await client.query(`alter system set default_transaction_read_only = ${on ? "on" : "off"}`);
  await client.query("select pg_reload_conf()");
}

test("[O16] a server that was set to read only is away until it takes writes again", async () => {
  const call = await start(own.url);
  expect(await write(call)).toBe(200);
  expect(await readiness(call)).toBe(200);
  await setReadOnly(true);
  await until(async () => expect(await write(call)).toBe(503));
  await until(async () => expect(await readiness(call)).toBe(503));
  await setReadOnly(false);
  await until(async () => expect(await write(call)).toBe(200));
  await until(async () => expect(await readiness(call)).toBe(200));
});

/** False: that process has ended meanwhile. */
function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

/** Suspends the main process first, so that none is started while the others are listed. */
async function suspend(): Promise<number[]> {
  signal(own.pid, "SIGSTOP");
  const { rows } = await client.query<{ pid: number }>(
    "select pid from pg_stat_activity where pid <> pg_backend_pid()",
  );
  return [own.pid, ...rows.map(({ pid }) => pid).filter((pid) => signal(pid, "SIGSTOP"))];
}

test("[O15] while Postgres is suspended, requests get 503 in time, and succeed when it continues", async () => {
  const call = await start(own.url);
  expect(await write(call)).toBe(200);
  const suspended = await suspend();
  const begun = performance.now();
  try {
    const soon = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const asked = performance.now();
      expect(await readiness(call)).toBe(503);
      expect(performance.now() - asked).toBeLessThan(2_000);
    };
    const [status] = await Promise.all([write(call), soon()]);
    expect(status).toBe(503);
    expect(performance.now() - begun).toBeLessThan(12_000);
  } finally {
    for (const pid of suspended) signal(pid, "SIGCONT");
  }
  await until(async () => expect(await write(call)).toBe(200));
  await until(async () => expect(await readiness(call)).toBe(200));
});

test("[O16] the first host that accepts writes is used", async () => {
  const { url } = await freshDatabase();
  const there = new URL(url.replace(/@[^/]*\//, "@host/"));
  const name = there.pathname.slice(1);
  // Both let the same user in.
  await client.query(`alter role ${there.username} password '${decodeURIComponent(there.password)}'`);
  await client.query(`create database ${name}`);
  await setReadOnly(true);
  const hostOf = (address: string) => /@([^/]*)\//.exec(address)?.[1];
  const both = `postgres://${there.username}:${there.password}@127.0.0.1:1,${hostOf(own.url)},${hostOf(url)}/${name}?target_session_attrs=read-write`;
  const call = await start(both);
  await until(async () => expect(await write(call)).toBe(200));
  await until(async () => expect(await readiness(call)).toBe(200));
  await setReadOnly(false);
});
