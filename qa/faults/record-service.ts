// An endpoint datasource that keeps records of any model in a file of SQLite. It may be killed at any moment.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CommitRefusedError, createDatasourceHandler } from "@holdfast/sdk/datasource";
import type { SourceCommit } from "@holdfast/sdk/protocol";
import Database from "libsql";

const { SIGNING_KEY = "", RECORDS_FILE = "", PORT = "0" } = process.env;
const db = new Database(RECORDS_FILE);
db.exec("pragma journal_mode = wal; pragma busy_timeout = 5000;");
db.exec(`
  create table if not exists record (model text, id text, data text not null, primary key (model, id));
  create table if not exists done_commit (client_tx_id text primary key);
  create table if not exists change (seq integer primary key autoincrement, model text not null, id text not null);
`);

const read = (model: string, id: string): object | undefined => {
  const row = db.prepare("select data from record where model = ? and id = ?").get(model, id) as { data: string };
  return row && (JSON.parse(row.data) as object);
};

const write = db.transaction(({ clientTxId, operations }: SourceCommit) => {
  if (db.prepare("select 1 from done_commit where client_tx_id = ?").get(clientTxId)) return;
  for (const [operation, { action, model, id, data }] of operations.entries()) {
    const before = read(model, id);
    if (action !== "delete" && (before === undefined) !== (action === "create"))
      throw new CommitRefusedError(`${action} of ${model} ${id} is not possible.`, { operation });
    if (action === "delete") db.prepare("delete from record where model = ? and id = ?").run(model, id);
    else
      db.prepare("insert or replace into record (model, id, data) values (?, ?, ?)").run(
        ...[model, id, JSON.stringify({ ...before, ...data })],
      );
    db.prepare("insert into change (model, id) values (?, ?)").run(model, id);
  }
  db.prepare("insert into done_commit (client_tx_id) values (?)").run(clientTxId);
});

const records = (rows: unknown) =>
  (rows as { id: string; data: string }[]).map(({ id, data }) => ({ id, data: JSON.parse(data) }));

const handler = createDatasourceHandler({
  signingKey: SIGNING_KEY,
  commit: async (commit) => void write.immediate(commit),
  load: async (model, ids) =>
    records(
      db
        .prepare("select id, data from record where model = ? and id in (select value from json_each(?))")
        .all(model, JSON.stringify(ids)),
    ),
  async list(model, { cursor, limit }) {
    const page = records(
      db
        .prepare("select id, data from record where model = ? and id > ? order by id limit ?")
        .all(model, cursor ?? "", limit),
    );
    return { records: page, cursor: page.length === limit ? (page.at(-1)?.id ?? null) : null };
  },
  async events({ cursor, limit }) {
    const rows = db
      .prepare("select seq, model, id from change where seq > ? order by seq limit ?")
      .all(Number(cursor ?? 0), limit) as { seq: number; model: string; id: string }[];
    const events = rows.map(({ model, id }) => ({ model, id }));
    return { events, cursor: String(rows.at(-1)?.seq ?? cursor ?? 0), more: rows.length === limit };
  },
});
const server = createServer(handler.node);
server.listen(Number(PORT), "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
