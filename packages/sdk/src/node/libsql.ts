import { createRequire } from "node:module";
import type LibsqlDatabase from "libsql";
import { storeRefusal } from "./store-refusal.ts";

export type SqliteDatabase = LibsqlDatabase.Database;

/**
 * The database is an optional peer for agents with a durable store, so that browser apps do not install ten megabytes
 * of binaries. Loaded with `require`, so that `createClient` can report at once that it is missing.
 */
export function loadSqlite(): (path: string) => SqliteDatabase {
  try {
    const Database = createRequire(import.meta.url)("libsql") as typeof LibsqlDatabase;
    return (path) => new Database(path);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw storeRefusal(
      "store_unusable",
      isMissing
        ? `A store in a file needs the package libsql with its binary for ${process.platform}-${process.arch}. Run "npm install libsql" (${reason})`
        : `The package libsql, which a store in a file needs, could not be loaded: ${reason}`,
    );
  }
}

/** Reads all rows: an unfinished statement keeps the file locked until it is collected, long after `close`. */
export const rowOf = (db: SqliteDatabase, question: string) =>
  db.prepare(question).all()[0] as Readonly<Record<string, unknown>> | undefined;

/**
 * The library's own transaction hides the error: a full disk has already rolled back, and its second rollback throws.
 */
export function inTransaction<T>(db: SqliteDatabase, kind: "immediate" | "exclusive", work: () => T): T {
  db.exec(`begin ${kind}`);
  try {
    const result = work();
    db.exec("commit");
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec("rollback");
    throw error;
  }
}
