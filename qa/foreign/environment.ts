import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { ModelSchema } from "@holdfast/sdk/protocol";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import pg from "pg";
import { type WatchedServer, watchServer } from "../fuzz/server/server.ts";
import { holdfast } from "./odd-files.ts";
import type { Tenant } from "./tenant-requests.ts";
import { TABLES_SQL } from "./values/column-values.ts";

const { models } = JSON.parse(
  readFileSync(new URL("../../packages/server/reference-schema.json", import.meta.url), "utf8"),
) as ModelSchema;

/** As on a small machine: what holds too much in memory ends the process. */
const HEAP_MEGABYTES = 512;

export interface TenantWithTables extends Tenant {
  readonly organization: string;
  readonly databaseUrl: string;
}

/**
 *   plain SQL ──► Postgres ◄── server ──► the owner's service, in a process of its own
 *                                ▲
 *   the tenants' own clients ────┴──── a neighbour, in a process of its own
 */
export interface Environment extends AsyncDisposable {
  readonly server: WatchedServer;
  /** One in the server's database, one in a database of its own. */
  readonly withTables: readonly TenantWithTables[];
  /** Its tasks are behind the owner's service. */
  readonly withSource: Tenant & { readonly source: string };
  /** Nothing odd is in it. Commands may write it. */
  readonly spare: Tenant & { readonly organization: string };
  readonly service: ChildProcess;
  readonly neighbour: ChildProcess;
  /** One request, which has to be answered. */
  ask(tenant: Tenant, method: string, path: string, json?: object): Promise<Readonly<Record<string, unknown>>>;
}

export async function openEnvironment(databaseUrl: string, seed: number): Promise<Environment> {
  const closings: (() => unknown)[] = [];
  const close = async () => {
    for (const work of closings.splice(0).reverse()) await work();
  };
  try {
    return { ...(await openIn(databaseUrl, seed, (work) => closings.push(work))), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openIn(
  databaseUrl: string,
  seed: number,
  closing: (work: () => unknown) => void,
): Promise<Omit<Environment, typeof Symbol.asyncDispose>> {
  const ownName = `${new URL(databaseUrl).pathname.slice(1)}_of_a_tenant`;
  await runSql(databaseUrl, `create database ${ownName}`);
  closing(() => runSql(databaseUrl, `drop database ${ownName} with (force)`));
  const ownUrl = Object.assign(new URL(databaseUrl), { pathname: `/${ownName}` }).href;
  const server = await watchServer(databaseUrl, {
    node: [`--max-old-space-size=${HEAP_MEGABYTES}`],
    env: {
      HOLDFAST_DATASOURCE_ALLOW_PRIVATE: "1",
      HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "1",
      HOLDFAST_WEBHOOK_SCHEDULE: "0,100,200,300,400,500,600,700",
    },
  });
  closing(() => server.stop());
  const ask: Environment["ask"] = async ({ url, token }, method, path, json) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(json && { "content-type": "application/json" }) },
      ...(json && { body: JSON.stringify(json) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok)
      throw new Error(`${method} ${path} was answered with ${response.status} ${answer.code}: ${answer.message}`);
    return answer;
  };
  const operator: Tenant = { name: "operator", url: server.url, token: server.adminToken };
  const tenantOf = async (name: string) => {
    const organization = String((await ask(operator, "POST", "/v1/organizations", { name })).id);
    const { token } = await ask(operator, "POST", "/v1/secret_keys", { organization, livemode: true });
    return { name, url: server.url, token: String(token), organization };
  };

  const [tables, own, source, spare, other] = [
    await tenantOf("tables"),
    await tenantOf("own database"),
    await tenantOf("source"),
    await tenantOf("spare"),
    await tenantOf("neighbour"),
  ] as const;
  await ask(own, "POST", "/v1/datasources", { connection: "direct", connectionString: `${ownUrl}?sslmode=disable` });
  const withTables = [
    { ...tables, databaseUrl },
    { ...own, databaseUrl: ownUrl },
  ];
  for (const one of withTables) {
    await runSql(one.databaseUrl, TABLES_SQL);
    await mustEndWell(["tables", "attach", "public.papers", "--org", one.organization, "--yes"], one.databaseUrl);
  }
  for (const one of [spare, other]) await ask(one, "POST", "/v1/schema", { models });

  const signingKey = `whsec_${randomBytes(32).toString("base64")}`;
  const service = startProcess("owners-service.ts", [String(seed), signingKey]);
  closing(() => service.kill("SIGKILL"));
  const [port] = (await once(createInterface({ input: service.stdout as NodeJS.ReadableStream }), "line")) as [string];
  const endpoint = `http://127.0.0.1:${port}`;
  const { id } = await ask(source, "POST", "/v1/datasources", {
    connection: "endpoint",
    endpoint: `${endpoint}/records`,
    signingKey,
  });
  await ask(source, "POST", "/v1/schema", {
    models: { task: { source: id, fields: { title: { type: "string" } } }, slide: models.slide },
  });
  for (const one of [...withTables, source])
    await ask(one, "POST", "/v1/webhook_endpoints", { url: `${endpoint}/hooks` });
  await ask(source, "POST", "/v1/models/slide", { id: "s1", data: { deckId: "d", title: "Small" } });

  const neighbour = startProcess("neighbour.ts", [server.url, other.token]);
  closing(() => neighbour.kill("SIGKILL"));
  return { server, withTables, withSource: { ...source, source: String(id) }, spare, service, neighbour, ask };
}

function startProcess(name: string, words: readonly string[]): ChildProcess {
  const { flags, file } = sourceProgram(new URL(`./programs/${name}`, import.meta.url).pathname);
  return spawn(process.execPath, [...flags, file, ...words], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
}

/** Sends a message to a process of ours, and awaits its answer. */
export async function tell<T>(child: ChildProcess, message: object): Promise<T> {
  const answered = once(child, "message");
  child.send(message);
  const [answer] = (await answered) as [T];
  return answer;
}

export async function runSql<T extends pg.QueryResultRow>(databaseUrl: string, sql: string): Promise<readonly T[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function mustEndWell(words: readonly string[], databaseUrl: string): Promise<void> {
  const { code, said } = await holdfast(words, { DATABASE_URL: databaseUrl });
  if (code !== 0) throw new Error(`holdfast ${words.join(" ")} ended with ${code}: ${said}`);
}
