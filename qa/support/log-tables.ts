import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { readRecords } from "./attached-tables.ts";

export interface StoredEntry {
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  readonly verb: string;
  readonly data: unknown;
  readonly name: string;
}

export interface StoredRow {
  readonly model: string;
  readonly id: string;
  readonly syncId: number;
  readonly data: unknown;
}

/** Reads the tables directly, because the auditor must not rely on the server that it audits. */
export interface AuditedDatabase extends AsyncDisposable {
  head(): Promise<number>;
  /** How many commits are on their way to a source. */
  open(): Promise<number>;
  everything(): Promise<{
    readonly head: number;
    readonly log: readonly StoredEntry[];
    readonly rows: readonly StoredRow[];
  }>;
  /** The planted fault. */
  loseEntry(syncId: number): Promise<void>;
}

/** How to reach the embedded Postgres that runs in this directory; a datasource takes it too. */
export function embeddedUrl(dataDir: string): string {
  const password = readFileSync(join(dataDir, "postgres/password"), "utf8").trim();
  const socket = encodeURIComponent(join(dataDir, "postgres/socket"));
  return `postgres://holdfast:${password}@${socket}/postgres?sslmode=disable`;
}

export async function openDatabase(url: string): Promise<AuditedDatabase> {
  const client = new pg.Client(url);
  // One that is cut in the middle of a run rejects its query; this only keeps Node from exiting.
  client.on("error", () => {});
  await client.connect();
  // The writers' tenant is the one with the longest log.
  const { rows: heads } = await client.query<{ tenant: number; log_id: string }>(
    "select tenant, log_id from holdfast.head order by sync_id desc limit 1",
  );
  const tenant = heads[0]?.tenant;
  const head = async () =>
    Number(
      (await client.query<{ n: string }>("select sync_id as n from holdfast.head where tenant = $1", [tenant])).rows[0]
        ?.n,
    );
  return {
    head,
    open: async () =>
      Number((await client.query<{ n: string }>("select count(*) as n from holdfast.intent")).rows[0]?.n),
    async everything() {
      const log = await client.query<Omit<StoredEntry, "syncId"> & { sync: string }>(
        `select sync_id as sync, model, id, verb, data, client_tx_id as name from holdfast.log where tenant = $1 order by sync_id`,
        [tenant],
      );
      const rows = await readRecords(client, Number(tenant));
      const numbered = <T extends { sync: string }>({ sync, ...rest }: T) => ({ ...rest, syncId: Number(sync) });
      return {
        head: await head(),
        log: log.rows.map(numbered),
        rows: rows.map(({ at, ...rest }) => ({ ...rest, syncId: Number(at) }) as StoredRow),
      };
    },
    loseEntry: async (syncId) => {
      await client.query("delete from holdfast.log where tenant = $1 and sync_id = $2", [tenant, syncId]);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
