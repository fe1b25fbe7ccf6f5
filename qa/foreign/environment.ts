import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { referenceSchema } from "../../packages/server/src/testing/reference-schema.ts";
import { runSql } from "../../packages/server/src/testing/run-sql.ts";
import { firstLine, programAt, startProgram } from "../support/child-program.ts";
import type { FaultEnvironment } from "../support/fault-environment.ts";
import { mustWork } from "../support/holdfast-command.ts";
import type { KillableServer } from "../support/killable-server.ts";
import { ask as request } from "../support/requester.ts";
import type { Tenant } from "./tenant-requests.ts";
import { TABLES_SQL } from "./values/column-values.ts";

/** How the server is started. */
export const ENV = {
  ...{ HOLDFAST_SCHEMA: "", HOLDFAST_LOG_LEVEL: "info" },
  ...{ HOLDFAST_RATE_RK: "0", HOLDFAST_RATE_EK: "0", HOLDFAST_RATE_FAILED_AUTH: "0" },
  ...{ HOLDFAST_DATASOURCE_ALLOW_PRIVATE: "1", HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "1" },
  HOLDFAST_WEBHOOK_SCHEDULE: "0,100,200,300,400,500,600,700",
};

export interface TenantWithTables extends Tenant {
  readonly organization: string;
  readonly databaseUrl: string;
}

/**
 *   plain SQL ──► Postgres ◄── server ──► the owner's service, in a process of its own
 *                                ▲
 *   the tenants' own clients ────┴──── a neighbour, in a process of its own
 */
export interface Environment {
  readonly server: KillableServer;
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

/** The run's server, and all that is around it. */
export async function openEnvironment(
  { servers, databaseUrl, newTenant, closing }: FaultEnvironment,
  seed: number,
): Promise<Environment> {
  const [server] = servers as readonly [KillableServer];
  const ownName = `${new URL(databaseUrl).pathname.slice(1)}_of_a_tenant`;
  await runSql(databaseUrl, `create database ${ownName}`);
  closing(() => runSql(databaseUrl, `drop database ${ownName} with (force)`));
  const ownUrl = Object.assign(new URL(databaseUrl), { pathname: `/${ownName}` }).href;
  const ask: Environment["ask"] = ({ url, token }, method, path, json) => request(url + path, method, token, json);
  const tenantOf = async (name: string, schema?: object) => {
    const { key: token, organization } = await newTenant(schema);
    return { name, url: server.url, token, organization };
  };
  const [tables, own, source, spare, other] = [
    await tenantOf("tables"),
    await tenantOf("own database"),
    await tenantOf("source"),
    await tenantOf("spare", referenceSchema),
    await tenantOf("neighbour", referenceSchema),
  ] as const;
  await ask(own, "POST", "/v1/datasources", { connection: "direct", connectionString: `${ownUrl}?sslmode=disable` });
  const withTables = [
    { ...tables, databaseUrl },
    { ...own, databaseUrl: ownUrl },
  ];
  for (const one of withTables) {
    await runSql(one.databaseUrl, TABLES_SQL);
    await mustWork(["tables", "attach", "public.papers", "--org", one.organization, "--yes"], one.databaseUrl);
  }

  const signingKey = `whsec_${randomBytes(32).toString("base64")}`;
  const service = startProgram(programAt(new URL("./programs/owners-service.ts", import.meta.url)), [
    String(seed),
    signingKey,
  ]);
  closing(() => service.kill("SIGKILL"));
  const endpoint = `http://127.0.0.1:${await firstLine(service)}`;
  const { id } = await ask(source, "POST", "/v1/datasources", {
    connection: "endpoint",
    endpoint: `${endpoint}/records`,
    signingKey,
  });
  await ask(source, "POST", "/v1/schema", {
    models: { task: { source: id, fields: { title: { type: "string" } } }, slide: referenceSchema.models.slide },
  });
  for (const one of [...withTables, source])
    await ask(one, "POST", "/v1/webhook_endpoints", { url: `${endpoint}/hooks` });
  await ask(source, "POST", "/v1/models/slide", { id: "s1", data: { deckId: "d", title: "Small" } });

  const neighbour = startProgram(programAt(new URL("./programs/neighbour.ts", import.meta.url)), [
    server.url,
    other.token,
  ]);
  closing(() => neighbour.kill("SIGKILL"));
  return { server, withTables, withSource: { ...source, source: String(id) }, spare, service, neighbour, ask };
}

/** Sends a message to a process of ours, and awaits its answer. */
export async function tell<T>(child: ChildProcess, message: object): Promise<T> {
  const answered = once(child, "message");
  child.send(message);
  const [answer] = (await answered) as [T];
  return answer;
}
