import { CommitRefusedError, type DatasourceHandlerOptions } from "@holdfast/sdk/datasource";
import { createPool, type ResultSetHeader, type RowDataPacket } from "mysql2";
import type { PoolConnection } from "mysql2/promise";
import { asRefusal, isDeadlock, isTaken } from "./errors.ts";
import { EVENT_TABLES, OPTIONS, placeEvents, readEvents, triggersOf } from "./events.ts";
import { fromSql, type Kind, toSql } from "./values.ts";

/** By model. The key of each table is `id`. */
export type Tables = Readonly<Record<string, Table>>;
export interface Table {
  readonly name: string;
  /** By field. */
  readonly columns: Readonly<Record<string, Column>>;
}
interface Column {
  readonly name: string;
  readonly kind: Kind;
}

type Store = Pick<DatasourceHandlerOptions, "commit" | "load" | "list" | "events">;
type Commit = Parameters<Store["commit"]>[0];
type Operation = Commit["operations"][number];

/** Deadlocks are the fault of no commit: it is tried again for as long. The caller waits for twice that. */
const DEADLOCKS_MS = 5_000;

/** What a commit means must not depend on how the server is configured. What a dead process has begun ends by itself. */
const SESSION = [
  `set names utf8mb4 collate utf8mb4_bin, time_zone = '+00:00', sql_mode = 'TRADITIONAL', innodb_lock_wait_timeout = 5,
    idle_transaction_timeout = 10`,
  "set session transaction isolation level read committed",
];

const DONE_COMMITS = `create table if not exists done_commit (client_tx_id varchar(255) primary key) ${OPTIONS}`;

/** The functions of the handler, over a database of MariaDB; `schema` are the statements that make its tables. */
export async function openStore(uri: string, schema: readonly string[], tables: Tables) {
  const connections = createPool({ uri, charset: "utf8mb4_bin", dateStrings: true, jsonStrings: true });
  connections.on("connection", (connection) => {
    // The statements of a connection run in order, so these are the first.
    for (const statement of SESSION) connection.query(statement, (error) => error && connection.destroy());
  });
  const pool = connections.promise();
  const triggers = Object.entries(tables).flatMap(([model, table]) => triggersOf(model, table.name));
  for (const statement of [...schema, DONE_COMMITS, ...EVENT_TABLES, ...triggers]) await pool.query(statement);

  async function transaction<T>(work: (connection: PoolConnection) => Promise<T>): Promise<T> {
    const connection = await pool.getConnection();
    try {
      await connection.query("start transaction");
      const result = await work(connection);
      await connection.query("commit");
      connection.release();
      return result;
    } catch (error) {
      // After a lock timeout the transaction is still open.
      await connection.query("rollback").then(
        () => connection.release(),
        () => connection.destroy(),
      );
      throw error;
    }
  }

  async function read(connection: Pick<PoolConnection, "query">, model: string, rest: string, values: unknown[]) {
    const { name, columns } = tableOf(model);
    const names = Object.values(columns).map((column) => `\`${column.name}\``);
    const [rows] = await connection.query<RowDataPacket[]>(`select ${["id", ...names]} from ${name} ${rest}`, values);
    return rows.map((row) => {
      const fields = Object.entries(columns).map(([field, column]) => [field, fromSql(column.kind, row[column.name])]);
      return { id: String(row.id), data: Object.fromEntries(fields) as Record<string, unknown> };
    });
  }

  const load = async (connection: Pick<PoolConnection, "query">, model: string, ids: readonly string[]) =>
    ids.length === 0 ? [] : await read(connection, model, "where id in (?)", [ids]);

  function tableOf(model: string): Table {
    const table = Object.hasOwn(tables, model) ? tables[model] : undefined;
    if (!table) throw new CommitRefusedError(`There is no ${model} here.`);
    return table;
  }

  async function write(connection: PoolConnection, { action, model, id, data = {} }: Operation): Promise<void> {
    const { name, columns } = tableOf(model);
    const given = Object.entries(data).map(([field, value]) => {
      const column = Object.hasOwn(columns, field) ? columns[field] : undefined;
      if (!column) throw new CommitRefusedError(`A ${model} has no ${field} here.`, { field });
      const fit = toSql(column.kind, value);
      if (fit === undefined) throw new CommitRefusedError(`${field} is no ${column.kind}.`, { field });
      return { column: `\`${column.name}\``, value: fit };
    });
    const values = given.map(({ value }) => value);
    switch (action) {
      case "create": {
        const names = ["id", ...given.map(({ column }) => column)];
        await connection.execute(`insert into ${name} (${names}) values (${names.map(() => "?")})`, [id, ...values]);
        return;
      }
      case "update": {
        const changes = ["id = id", ...given.map(({ column }) => `${column} = ?`)];
        const text = `update ${name} set ${changes} where id = ?`;
        const [{ affectedRows }] = await connection.execute<ResultSetHeader>(text, [...values, id]);
        if (affectedRows === 0)
          throw new CommitRefusedError(`The ${model} does not exist any more.`, { code: "not_there" });
        return;
      }
      case "delete":
        await connection.execute(`delete from ${name} where id = ?`, [id]);
    }
  }

  const commitOnce = ({ clientTxId, operations }: Commit) =>
    transaction(async (connection) => {
      // A repetition waits here for the first one, and goes on only if that has not happened.
      const isDone = await connection.execute("insert into done_commit values (?)", [clientTxId]).then(
        () => false,
        (error: unknown) => isTaken(error) || Promise.reject(error),
      );
      for (const [n, operation] of isDone ? [] : operations.entries())
        await write(connection, operation).catch((error: unknown) => {
          const columns = Object.entries(tables[operation.model]?.columns ?? {});
          throw asRefusal(error, n, new Map(columns.map(([field, { name }]) => [name, field])));
        });
      // What defaults and triggers have made of the records.
      const records = [];
      for (const model of new Set(operations.map((one) => one.model))) {
        const ids = [...new Set(operations.flatMap((one) => (one.model === model ? [one.id] : [])))];
        const found = new Map((await load(connection, model, ids)).map(({ id, data }) => [id, data]));
        records.push(...ids.map((id) => ({ model, id, data: found.get(id) ?? null })));
      }
      return records;
    });

  return {
    async commit(commit) {
      for (const end = performance.now() + DEADLOCKS_MS; ; )
        try {
          return await commitOnce(commit);
        } catch (error) {
          if (!isDeadlock(error) || performance.now() > end) throw error;
        }
    },
    load: (model, ids) => load(pool, model, ids),
    async list(model, { cursor, limit }) {
      const records = await read(pool, model, "where id > ? order by id limit ?", [cursor ?? "", limit]);
      return { records, cursor: records.length === limit ? (records.at(-1)?.id ?? null) : null };
    },
    async events(page) {
      await transaction((connection) => placeEvents(connection, page.limit));
      return await readEvents(pool, page);
    },
    close: () => pool.end(),
  } satisfies Store & { close(): Promise<void> };
}
