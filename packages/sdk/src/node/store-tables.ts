import { rowOf, type SqliteDatabase } from "./libsql.ts";
import { unusable } from "./store-refusal.ts";

/** "Hold", in the header of every store, so that another program's database is not taken for one. */
export const APPLICATION_ID = 0x486f6c64;
const VERSION = 1;

export const TABLES = `
  create table store (
    one integer primary key check (one = 1),
    name text not null,
    client_id text,
    owner text,
    others integer not null default 0,
    record_bytes integer,
    generation integer not null,
    changes integer not null default 0,
    log_id text,
    position integer,
    at integer,
    stamp integer,
    cursor text,
    scope text,
    rows_version integer,
    view_hash text
  ) strict;
  create table mutation (
    seq integer primary key autoincrement,
    name text not null,
    stored text not null
  ) strict;
  create table record (
    model text not null,
    id text not null,
    stored text not null,
    primary key (model, id)
  ) strict, without rowid;
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${VERSION};
`;

/** What files of earlier versions of this package lack. Those versions leave it alone. */
export function addColumns(db: SqliteDatabase): void {
  for (const column of ["at", "record_bytes"]) {
    const has = rowOf(db, `select name from pragma_table_info('store') where name = '${column}'`);
    if (!has) db.exec(`alter table store add column ${column} integer`);
  }
}

/** Overwrites the content of all tables. */
export const EMPTY = `
  delete from mutation;
  delete from record;
  delete from store;
`;

/** Whether the file is still empty. Throws if it is not a Holdfast store, or not this store. */
export function checkStore(path: string, db: SqliteDatabase, store: string): "new" | "known" {
  const number = (question: string) => Number(Object.values(rowOf(db, question) ?? {})[0]);
  const application = number("pragma application_id");
  const version = number("pragma user_version");
  const isNew = number("select count(*) from sqlite_schema") === 0;
  if (application !== APPLICATION_ID && !(application === 0 && isNew))
    throw unusable(path, "it is a database of another program");
  if (version > VERSION)
    throw unusable(path, `a newer version of this package made it (${version}, this one reads up to ${VERSION})`);
  const name = isNew ? undefined : nameIn(db);
  if (name !== undefined && name !== store)
    throw unusable(
      path,
      `it contains the store "${name}", not "${store}". Set the option store to that name, or use another file`,
    );
  return isNew ? "new" : "known";
}

const nameIn = (db: SqliteDatabase) => rowOf(db, "select name from store")?.name as string | undefined;
