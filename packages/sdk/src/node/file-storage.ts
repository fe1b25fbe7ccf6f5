import type { Storage } from "../engine/ports.ts";
import { storageInFile } from "./storage-in-file.ts";
import { openStoreFile } from "./store-file.ts";

/** Where a client in Node keeps its queue and rows. Made by `fileStorage`. */
export interface FileStorage {
  readonly path: string;
  /** Called by `createClient`. */
  open(store: string): Storage;
}

/**
 * Keeps queue and rows in a file, so that what was queued is sent after a restart, however the process ended. One
 * client at a time holds a file. Needs the package `libsql` beside this one.
 */
export function fileStorage(path: string): FileStorage {
  return { path, open: (store) => storageInFile(openStoreFile(path, store)) };
}
