import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import pg from "pg";
import { afterAll } from "vitest";
import { createPool, type Database } from "../kernel/connection/pool.ts";
import { newMasterKey, type RunningServer, type ServerOptions, startServer } from "../server.ts";
import { freshDatabase } from "./database.ts";
import { referenceSchema } from "./reference-schema.ts";

export const ADMIN = "admin_token_of_the_tests";

export { referenceSchema };

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; an empty object if it is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Asking {
  /** Null: none. */
  readonly token?: string | null;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** A value to send as JSON, or raw bytes. */
  readonly json?: unknown;
  readonly bytes?: string | Buffer;
}

export type Call = (method: string, path: string, asking?: Asking) => Promise<Answer>;

export interface App {
  readonly url: string;
  readonly databaseUrl: string;
  readonly masterKeys: readonly string[];
  readonly server: RunningServer;
  /** Keys of one organization's two tenants, and of another organization. */
  readonly keys: { readonly live: string; readonly test: string; readonly other: string };
  readonly organization: string;
  /** The numbers of its live tenant, and of the other organization's. */
  readonly tenants: { readonly live: number; readonly other: number };
  /** The number of an organization's live tenant. */
  tenantOf(organization: string): Promise<number>;
  /**
   * Calls with the live key unless told otherwise. Throws if a response breaks a rule that holds for every response.
   */
  readonly call: Call;
  sql<T extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<T[]>;
  /** A connection for SQL of the test's own. It ends with the file. */
  connect(config?: pg.ClientConfig): Promise<pg.Client>;
  /** A pool as the server has them. It ends with the file. */
  pool(maxConnections?: number): Database;
  /** Runs a statement in a transaction that stays open, so that its locks are held until `release`. */
  hold(text: string): Promise<{ release(): Promise<void> }>;
  /** Another server on the same database. */
  another(options?: Partial<ServerOptions>): Promise<{ readonly server: RunningServer; readonly call: Call }>;
  newKey(livemode?: boolean): Promise<{ id: string; token: string }>;
  /** A new organization without a schema, and its live key. */
  newOrganization(): Promise<{ readonly organization: string; readonly token: string }>;
  /** Minted with the live key unless told otherwise. */
  capability(json: object, key?: string): Promise<{ readonly id: string; readonly token: string }>;
  /** The token of an agent that may do anything with slides. */
  agent(participantId: string): Promise<string>;
}

/** A body of commits that creates these records of one model. */
export const creates = (model: string, ids: readonly string[], data: object = {}) => ({
  operations: ids.map((id) => ({ action: "create", model, id, data })),
});

/** A hundred ids. */
export const hundred = (prefix: string) => Array.from({ length: 100 }, (_, i) => `${prefix}-${i}`);

/** A busy machine may take longer to connect than a test lets a request wait. */
async function patiently(start: () => Promise<RunningServer>, attempts = 5): Promise<RunningServer> {
  try {
    return await start();
  } catch (error) {
    if (attempts === 1 || !/connection timeout/.test(String(error))) throw error;
    return patiently(start, attempts - 1);
  }
}

/** The real server on a database of the test file's own, with an organization, its keys and the reference schema. */
export async function startApp(options: Partial<ServerOptions> = {}): Promise<App> {
  const databaseUrl = options.databaseUrl ?? (await freshDatabase()).url;
  const masterKeys = [newMasterKey()];
  const start = (more: Partial<ServerOptions> = {}) =>
    startServer({
      databaseUrl,
      adminToken: ADMIN,
      masterKeys,
      port: 0,
      ...options,
      ...more,
      // Tests may send any number of requests without a token.
      limits: { rateFailedAuth: 0, ...options.limits, ...more.limits },
    });
  const server = await patiently(start);
  const servers = [server];
  const pools: Database[] = [];
  const clients: pg.Client[] = [];
  const connect = async (config: pg.ClientConfig = {}) => {
    const made = new pg.Client({ connectionString: databaseUrl, application_name: "test", ...config });
    // If Postgres ends, so does the query that waits; a connection without one would end the test's process.
    made.on("error", () => {});
    clients.push(made);
    await made.connect();
    return made;
  };
  const client = await connect();
  const callers: (() => void)[] = [];
  // Registered after the database's own hook, so it runs before it.
  afterAll(async () => {
    for (const close of callers) close();
    await Promise.all([...clients, ...pools].map((one) => one.end()));
    await Promise.all(servers.map((one) => one.close()));
  });
  const operator = caller(server.url, ADMIN, callers);
  const mint = async (organization: unknown, livemode: boolean) => {
    const { body } = await operator("POST", "/v1/secret_keys", { json: { organization, livemode } });
    return { id: String(body.id), token: String(body.token) };
  };
  const newOrganization = async (name: string) =>
    String((await operator("POST", "/v1/organizations", { json: { name } })).body.id);
  const organization = await newOrganization("ours");
  const stranger = await newOrganization("theirs");
  const keys = {
    live: (await mint(organization, true)).token,
    test: (await mint(organization, false)).token,
    other: (await mint(stranger, true)).token,
  };
  for (const token of Object.values(keys))
    await operator("POST", "/v1/schema", { token, json: { models: referenceSchema.models } });
  const call = caller(server.url, keys.live, callers);
  const sql = async <T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
    (await client.query<T>(text, [...values])).rows;
  const tenantOf = async (name: string) =>
    (await sql<{ id: number }>("select id from holdfast.tenant where organization = $1 and livemode", [name]))[0]?.id ??
    0;
  const capability = async (json: object, token = keys.live) => {
    const { status, body } = await call("POST", "/v1/capabilities", { token, json });
    if (status !== 201) throw new Error(`No capability: ${body.code}`);
    return { id: String(body.id), token: String(body.token) };
  };
  return {
    url: server.url,
    databaseUrl,
    masterKeys,
    server,
    keys,
    organization,
    tenants: { live: await tenantOf(organization), other: await tenantOf(stranger) },
    call,
    sql,
    connect,
    pool(maxConnections = 4) {
      const made = createPool({ url: databaseUrl, maxConnections });
      pools.push(made);
      return made;
    },
    async hold(text) {
      const holder = await connect();
      await holder.query("begin");
      await holder.query(text);
      return { release: () => holder.end() };
    },
    async another(more) {
      const next = await start(more);
      servers.push(next);
      return { server: next, call: caller(next.url, keys.live, callers) };
    },
    tenantOf,
    newKey: (livemode = true) => mint(organization, livemode),
    async newOrganization() {
      const made = await newOrganization("another");
      return { organization: made, token: (await mint(made, true)).token };
    },
    capability,
    agent: async (participantId) =>
      (await capability({ participantId, operations: ["slide.*"], syncGroups: [`org:${organization}`] })).token,
  };
}

/** Calls one server. Rules that hold for every response are checked here, so that each test checks them too. */
export function caller(url: string, usual: string, closing: (() => void)[] = []): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  closing.push(() => agent.destroy());
  const { hostname, port } = new URL(url);
  return (method, path, { token = usual, key, headers = {}, json, bytes } = {}) =>
    new Promise((resolve, reject) => {
      const payload = bytes ?? (json === undefined ? undefined : JSON.stringify(json));
      const sent = request({
        agent,
        hostname,
        port,
        method,
        path,
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(key !== undefined && { "idempotency-key": key }),
          ...(payload !== undefined && { "content-type": "application/json" }),
          ...(payload !== undefined &&
            headers["transfer-encoding"] === undefined && { "content-length": Buffer.byteLength(payload) }),
          ...headers,
        },
      });
      sent.on("error", reject);
      sent.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("error", reject);
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const answer = { status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) };
          const fault = faultOf(answer, method);
          if (fault === undefined) resolve(answer);
          else reject(new Error(`${method} ${path.slice(0, 200)}: ${fault}: ${text.slice(0, 500)}`));
        });
      });
      sent.end(payload);
    });
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function faultOf({ status, headers, body }: Answer, method: string): string | undefined {
  const id = headers["x-request-id"];
  if (typeof id !== "string" || !/^req_[0-9A-Za-z]{24}$/.test(id)) return `x-request-id is ${id}`;
  if (status === 500) return "answered with 500";
  if (status < 400 || method === "HEAD") return undefined;
  const { type, message, code, doc_url, request_id } = body;
  if (![type, message, code].every((part) => typeof part === "string" && part !== "")) return "no envelope";
  if (!String(doc_url).endsWith(`/docs/errors#${code}`)) return `doc_url is ${doc_url}`;
  if (code !== "source_refused" && / at .*\.ts|node_modules|select |insert /i.test(String(message)))
    return "the message tells of our inside";
  return request_id === id ? undefined : `request_id is ${request_id}, the header ${id}`;
}

/** Sends raw bytes. Returns everything that is received until the connection ends. */
export function rawRequest(url: string, bytes: string | Buffer, waitMs = 5_000): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    let text = "";
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(done, waitMs);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("end", done);
    socket.on("error", done);
  });
}
