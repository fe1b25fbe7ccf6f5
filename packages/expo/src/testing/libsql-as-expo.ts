import Database from "libsql";
import type { ExpoSQLite } from "../expo-modules.ts";

/** SQLite itself, behind the methods of expo-sqlite, which runs on phones only. */
export const libsqlAsExpo = (folder: string): ExpoSQLite => ({
  async openDatabaseAsync(name) {
    const db = new Database(`${folder}/${name}`);
    return {
      execAsync: async (sql) => void db.exec(sql),
      runAsync: async (sql, values) => db.prepare(sql).run(...values),
      getFirstAsync: async <Row>(sql: string, values: string[]) => (db.prepare(sql).get(...values) as Row) ?? null,
      getAllAsync: async <Row>(sql: string, values: string[]) => db.prepare(sql).all(...values) as Row[],
      closeAsync: async () => void db.close(),
    };
  },
});
