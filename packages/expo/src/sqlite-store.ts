import type { KeyValueChange, KeyValueStore } from "@holdfast/sdk/platform";
import type { ExpoDatabase, ExpoSQLite } from "./expo-modules.ts";

/**
 * Texts by key in a file of expo-sqlite. A write is one transaction, and is over when it is on the disk. The client
 * makes one operation after the other, so one connection is enough; a second one would have settings of its own.
 */
export async function openSqliteStore(SQLite: ExpoSQLite, file: string): Promise<KeyValueStore> {
  const db = await SQLite.openDatabaseAsync(file);
  // With less than "full", SQLite would not wait for the disk at the end of a transaction in this mode.
  await db.execAsync("pragma journal_mode = wal; pragma synchronous = full");
  await db.execAsync("create table if not exists entry (key text primary key not null, value text not null)");
  return {
    async get(key) {
      return (await db.getFirstAsync<{ value: string }>("select value from entry where key = ?", [key]))?.value;
    },
    async entries(from, to) {
      const sql = "select key, value from entry where key >= ? and key < ?";
      const rows = await db.getAllAsync<{ key: string; value: string }>(sql, [from, to]);
      return rows.map(({ key, value }) => [key, value] as const);
    },
    async write(changes) {
      await db.execAsync("begin immediate");
      try {
        for (const change of changes) await apply(db, change);
        await db.execAsync("commit");
      } catch (error) {
        // If this fails too, the connection is gone, and with it the transaction.
        await db.execAsync("rollback").catch(() => {});
        throw error;
      }
    },
    close: () => db.closeAsync(),
  };
}

async function apply(db: ExpoDatabase, change: KeyValueChange): Promise<void> {
  switch (change.type) {
    case "put":
      await db.runAsync("insert or replace into entry (key, value) values (?, ?)", [change.key, change.value]);
      return;
    case "delete":
      await db.runAsync("delete from entry where key = ?", [change.key]);
      return;
    case "deleteRange":
      await db.runAsync("delete from entry where key >= ? and key < ?", [change.from, change.to]);
  }
}
