import type { Storage } from "../engine/ports.ts";
import { storageInFile } from "./storage-in-file.ts";
import { openStoreFile } from "./store-file.ts";

/** Where a Node client stores its queue and rows. Created by `fileStorage`. */
export interface FileStorage {
  readonly path: string;
  /** Called by `createClient`. */
  open(store: string): Storage;
}

/**
 * Stores queue and rows in a file, so that queued writes are sent after a restart, however the process ended. Only one
 * client can use the file at a time. Requires the package `libsql`.
 */
export function fileStorage(path: string): FileStorage {
  return { path, open: (store) => storageInFile(openStoreFile(path, store)) };
}
