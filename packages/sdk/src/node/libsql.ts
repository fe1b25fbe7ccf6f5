import { createRequire } from "node:module";
import type LibsqlDatabase from "libsql";
import { storeRefusal } from "./store-refusal.ts";

export type SqliteDatabase = LibsqlDatabase.Database;

/**
 * The database is a peer that only agents with a durable store install: a browser app must not get ten megabytes of
 * binary. Loaded by `require`, so that `createClient` can say at once that it is missing.
 */
export function loadSqlite(): (path: string) => SqliteDatabase {
  try {
    const Database = createRequire(import.meta.url)("libsql") as typeof LibsqlDatabase;
    return (path) => new Database(path);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND";
    const said = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw storeRefusal(
      "store_unusable",
      isMissing
        ? `A store in a file needs the package libsql with its binary for ${process.platform}-${process.arch}. Run "npm install libsql" (${said})`
        : `The package libsql, which a store in a file needs, could not be loaded: ${said}`,
    );
  }
}

/** Read to its end: a statement that was not keeps the file locked until it is collected, long after `close`. */
export const rowOf = (db: SqliteDatabase, question: string) =>
  db.prepare(question).all()[0] as Readonly<Record<string, unknown>> | undefined;

/** The library's own hides what failed: a full disk has rolled back already, and its second rollback is an error. */
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
