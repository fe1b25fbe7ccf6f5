import type { Table } from "dexie";
import { Dexie } from "./dexie.ts";
import type { StoredChunk, StoredMeta, StoredMutation, StoredRow } from "./stored.ts";

export class Database extends Dexie {
  declare readonly mutations: Table<StoredMutation, number>;
  /** The last snapshot, followed by the changes in the log since then. */
  declare readonly parts: Table<StoredChunk, number>;
  declare readonly rows: Table<StoredRow, [string, string]>;
  declare readonly meta: Table<StoredMeta, string>;

  constructor(name: string) {
    // Rows are a copy of the log, so they need no strict durability. The queue requests it, see `enqueue`.
    super(name, { chromeTransactionDurability: "relaxed" });
    this.version(1).stores({ mutations: "++seq", rows: "[model+id]", meta: "key", parts: "++n" });
  }
}

/** If another tab blocks the open, some browsers fire no event at all, so only a timeout ends it. */
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

/** Bypasses Dexie, which would deadlock if the database were closed again while it opens. */
export function clientIn(backend: IDBDatabase): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const request = backend.transaction("meta").objectStore("meta").get("client");
    request.onsuccess = () => resolve((request.result as StoredMeta | undefined)?.clientId);
    request.onerror = () => reject(request.error);
  });
}
