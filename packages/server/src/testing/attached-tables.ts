import { setTimeout as pause } from "node:timers/promises";
import type { Field } from "@holdfast/sdk/protocol";
import { attachTable } from "../modules/tables/flows/attach-table.ts";
import type { Patience } from "../modules/tables/flows/patiently.ts";
import type { ServerOptions } from "../server.ts";
import { startApp } from "./app.ts";
import { NO_FOLLOWERS } from "./no-followers.ts";
import { wholeLog } from "./whole-log.ts";

export interface LogEntry {
  readonly id: string;
  readonly model: string;
  readonly verb: string;
  readonly data: Record<string, unknown> | null;
  readonly syncId: number;
  readonly changedFields: readonly string[] | null;
  readonly clientTxId: string;
  readonly actor: string;
}

export const spelled = ({ verb, id, data }: LogEntry) =>
  `${verb} ${id}${data?.title === undefined ? "" : ` ${data.title}`}`;

/** A server, a connection for SQL of the caller's own, and what attaches its tables to the app's tenant. */
export async function startWithTables(server: Partial<ServerOptions> = {}) {
  const app = await startApp(server);
  const pool = app.pool();
  const db = await app.connect();
  const tenant = app.tenants.live;
  const logEnd = async () => {
    const [head] = await app.sql<{ at: number }>("select sync_id::int as at from holdfast.head where tenant = $1", [
      tenant,
    ]);
    return head?.at ?? 0;
  };
  let seen = 0;

  /** Attaches a table whose fields are text columns of the same name, unless told otherwise. */
  async function attach(
    name: string,
    columns: Record<string, Partial<Field>>,
    key = "id",
    options: Patience = {},
    to = tenant,
  ) {
    const [{ relation } = { relation: 0 }] = await app.sql<{ relation: number }>(
      "select $1::regclass::oid::int as relation",
      [name],
    );
    const modelName = name.replace(/^.*\./, "").replaceAll(/[^a-z]/g, "");
    const fields = Object.fromEntries(
      Object.entries(columns).map(([field, more]) => [field, { type: "string" as const, nullable: true, ...more }]),
    );
    await attachTable(
      pool,
      NO_FOLLOWERS,
      {
        ...{ tenant: to, relation, name, modelName, keyColumn: key },
        columns: Object.entries(columns).map(([field, { type = "string" }]) => ({
          ...{ field, name: field, declared: type },
        })),
        model: { fields, table: { name, key } },
      },
      options,
    );
    return { model: modelName };
  }

  let keys = 0;
  const key = () => `key_${keys++}`;
  const post = (path: string, json: unknown) => app.call("POST", path, { key: key(), json });

  return {
    app,
    db,
    pool,
    tenant,
    attach,
    key,
    post,
    create: (model: string, id: string, data: object) => post(`/v1/models/${model}`, { id, data }),
    update: (model: string, id: string, data: object) =>
      app.call("PATCH", `/v1/models/${model}/${id}`, { key: key(), json: { data } }),
    remove: (model: string, id: string) => app.call("DELETE", `/v1/models/${model}/${id}`, { key: key() }),
    commit: (operations: readonly object[]) => post("/v1/commits", { operations }),
    rows: async (table: string) => (await db.query(`select * from ${table} order by 1`)).rows,
    /** `entries` begins here. */
    async mark() {
      seen = await logEnd();
      return seen;
    },
    /** The entries since `mark`, once there are that many. */
    async entries(count: number): Promise<LogEntry[]> {
      // The time of the test ends what hangs.
      while ((await logEnd()) - seen < count) await pause(25);
      return (await wholeLog(app.call)).slice(seen) as unknown as LogEntry[];
    },
  };
}
