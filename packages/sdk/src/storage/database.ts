import type { Table } from "dexie";
// 2 KB smaller than the build that "dexie" leads to, which also throws where an app has brought another version of it.
import { Dexie } from "dexie/dist/modern/dexie.mjs";
import type { StoredChunk, StoredMeta, StoredMutation, StoredRow } from "./stored.ts";

export class Database extends Dexie {
  declare readonly mutations: Table<StoredMutation, number>;
  /** The last snapshot, and what the log said since. */
  declare readonly parts: Table<StoredChunk, number>;
  declare readonly rows: Table<StoredRow, [string, string]>;
  declare readonly meta: Table<StoredMeta, string>;

  constructor(name: string) {
    // What is only a copy of the log need not be forced to the disk; the queue asks for more, see `enqueue`.
    super(name, { chromeTransactionDurability: "relaxed" });
    this.version(1).stores({ mutations: "++seq", rows: "[model+id]", meta: "key" });
    this.version(2).stores({ parts: "++n" });
  }
}

/** An open that is blocked by another tab gives no event at all in some browsers: only a clock ends it. */
export async function opened(db: Database, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const blocked = new Error("The database did not open; another tab may block it.");
    blocked.name = "BlockedError";
    timer = setTimeout(() => reject(blocked), ms);
  });
  try {
    await Promise.race([db.open(), tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asked past Dexie, which would wait for itself if the database were lost once more while it is being opened. */
export function clientIn(backend: IDBDatabase): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const request = backend.transaction("meta").objectStore("meta").get("client");
    request.onsuccess = () => resolve((request.result as StoredMeta | undefined)?.clientId);
    request.onerror = () => reject(request.error);
  });
}
