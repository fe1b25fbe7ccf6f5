import type { WebhookEvent } from "@holdfast/sdk/protocol";
import Database from "libsql";

/** A copy of every record, in a database of its own. */
export interface MirrorDatabase {
  /** The position of the last event that is in it. */
  position(): number;
  /** Takes in one event and its position: both, or neither. What is known already changes nothing. */
  apply(event: WebhookEvent): void;
  count(): number;
  close(): void;
}

const TABLES = `
  create table if not exists record (
    model text not null,
    id text not null,
    data text not null,
    archived integer not null,
    sync_id integer not null,
    primary key (model, id)
  ) strict, without rowid;
  create table if not exists place (
    one integer primary key check (one = 1),
    log_id text not null,
    sync_id integer not null
  ) strict;
`;

/** Opens the copy of this log; one that was made of another log is begun anew. */
export function openMirror(path: string, logId: string): MirrorDatabase {
  const db = new Database(path);
  // The write-ahead log survives a crash of this process; `full` also one of the machine.
  db.exec("pragma journal_mode = wal; pragma synchronous = full");
  db.exec(TABLES);
  beginAnewUnless(db, logId);

  const position = db.prepare("select sync_id from place");
  const move = db.prepare<[number, number]>("update place set sync_id = ? where sync_id < ?");
  const remove = db.prepare<[string, string]>("delete from record where model = ? and id = ?");
  const count = db.prepare("select count(*) as number from record");
  // An update says nothing of the archive: whatever is there stays.
  const put = db.prepare<[string, string, string, number | null, number]>(`
    insert into record (model, id, data, archived, sync_id) values (?1, ?2, ?3, coalesce(?4, 0), ?5)
    on conflict (model, id) do update set data = ?3, archived = coalesce(?4, archived), sync_id = ?5
  `);
  const apply = db.transaction((event: WebhookEvent) => {
    if (move.run(event.syncId, event.syncId).changes === 0) return;
    if (event.data === null) remove.run(event.model, event.objectId);
    else put.run(event.model, event.objectId, JSON.stringify(event.data), archived(event.type), event.syncId);
  });

  return {
    position: () => (position.get() as { sync_id: number }).sync_id,
    apply: (event) => apply.immediate(event),
    count: () => (count.get() as { number: number }).number,
    close: () => void db.close(),
  };
}

function beginAnewUnless(db: InstanceType<typeof Database>, logId: string): void {
  const place = db.prepare("select log_id from place").get() as { log_id: string } | undefined;
  if (place?.log_id === logId) return;
  const begin = db.transaction(() => {
    db.exec("delete from record; delete from place");
    db.prepare("insert into place (one, log_id, sync_id) values (1, ?, 0)").run(logId);
  });
  begin.immediate();
}

function archived(type: string): number | null {
  if (type.endsWith(".archived")) return 1;
  return type.endsWith(".updated") ? null : 0;
}
