import { CommitRefusedError, type DatasourceHandlerOptions } from "@holdfast/sdk/datasource";
import Database from "libsql";

/** Triggers note each change, so that it does not matter which program writes the table. */
const SCHEMA = `
  create table if not exists task (
    id text primary key,
    title text not null check (length(title) between 1 and 200),
    done integer not null default 0
  );
  create table if not exists done_commit (client_tx_id text primary key);
  create table if not exists change (seq integer primary key autoincrement, model text not null, id text not null);
  create trigger if not exists task_created after insert on task begin
    insert into change (model, id) values ('task', new.id);
  end;
  create trigger if not exists task_updated after update on task begin
    insert into change (model, id) values ('task', old.id), ('task', new.id);
  end;
  create trigger if not exists task_deleted after delete on task begin
    insert into change (model, id) values ('task', old.id);
  end;
`;

interface TaskRow {
  readonly id: string;
  readonly title: string;
  readonly done: number;
}

type Store = Pick<DatasourceHandlerOptions, "commit" | "load" | "list" | "events">;
type Commit = Parameters<Store["commit"]>[0];

/** The functions of the handler, over a file of SQLite. */
export function openTaskStore(file: string): Store & { close(): void } {
  const db = new Database(file);
  db.exec("pragma journal_mode = wal; pragma busy_timeout = 5000;");
  db.exec(SCHEMA);

  /** All of it or nothing, together with the note that it is done. */
  const write = db.transaction(({ clientTxId, operations }: Commit) => {
    if (db.prepare("select 1 from done_commit where client_tx_id = ?").get(clientTxId)) return;
    for (const [operation, { action, model, id, data = {} }] of operations.entries()) {
      if (model !== "task") throw new CommitRefusedError(`There is no ${model} here.`, { operation });
      try {
        if (!writeTask(action, id, data))
          throw new CommitRefusedError("The task does not exist any more.", { code: "no_task", operation });
      } catch (error) {
        throw asRefusal(error, operation);
      }
    }
    db.prepare("insert into done_commit (client_tx_id) values (?)").run(clientTxId);
  });

  function writeTask(
    action: Commit["operations"][number]["action"],
    id: string,
    data: Readonly<Record<string, unknown>>,
  ): boolean {
    const values = { id, title: data.title ?? null, done: data.done === undefined ? null : Number(data.done) };
    switch (action) {
      case "create":
        return (
          db.prepare("insert into task (id, title, done) values (@id, @title, coalesce(@done, 0))").run(values)
            .changes === 1
        );
      case "update":
        return (
          db
            .prepare("update task set title = coalesce(@title, title), done = coalesce(@done, done) where id = @id")
            .run(values).changes === 1
        );
      case "delete":
        db.prepare("delete from task where id = ?").run(id);
        return true;
    }
  }

  const records = (rows: unknown) =>
    (rows as TaskRow[]).map(({ id, title, done }) => ({ id, data: { title, done: done === 1 } }));

  return {
    commit: async (commit) => void write.immediate(commit),
    load: async (_model, ids) =>
      records(
        db
          .prepare("select id, title, done from task where id in (select value from json_each(?))")
          .all(JSON.stringify(ids)),
      ),
    async list(_model, { cursor, limit }) {
      const page = records(
        db.prepare("select id, title, done from task where id > ? order by id limit ?").all(cursor ?? "", limit),
      );
      return { records: page, cursor: page.length === limit ? (page.at(-1)?.id ?? null) : null };
    },
    async events({ cursor, limit }) {
      const rows = db
        .prepare("select seq, model, id from change where seq > ? order by seq limit ?")
        .all(Number(cursor ?? 0), limit) as { seq: number; model: string; id: string }[];
      return {
        events: rows.map(({ model, id }) => ({ model, id })),
        cursor: String(rows.at(-1)?.seq ?? cursor ?? 0),
        more: rows.length === limit,
      };
    },
    close: () => void db.close(),
  };
}

/** What a constraint says is for the author of the write; anything else is an error of ours. */
function asRefusal(error: unknown, operation: number): unknown {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  return code.startsWith("SQLITE_CONSTRAINT") ? new CommitRefusedError(message, { code, operation }) : error;
}
