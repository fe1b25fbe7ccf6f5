import { closeSync, mkdirSync, openSync, readSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { reasonOf } from "../core/reason-of.ts";
import type { StorageFailure } from "../engine/ports.ts";
import { isSyncError } from "../errors.ts";
import { fileFailure, isBusy, isDamage, sqliteCode, storageFailure } from "./file-failure.ts";
import { inTransaction, loadSqlite, type SqliteDatabase } from "./libsql.ts";
import { storeRefusal, unusable } from "./store-refusal.ts";
import { APPLICATION_ID, addColumns, checkStore, EMPTY, TABLES } from "./store-tables.ts";

/** How durable a transaction is: "strict" is on disk when it returns, "relaxed" soon after. */
export type Durability = "strict" | "relaxed";

/** One file, locked by this process until it is closed or the process ends. */
export interface StoreFile {
  readonly path: string;
  readonly db: SqliteDatabase;
  /** Runs one transaction. Fails with `StorageFailure`. */
  transaction<T>(durability: Durability, work: () => T): T;
  /** Moves the write-ahead log into the file, and empties it: it may still have what was deleted. */
  foldLog(): void;
  /** Closes a damaged file and renames it. */
  setAside(error: unknown): StorageFailure;
  close(): void;
  /** Closes the file and deletes it from disk. */
  destroy(): void;
}

/**
 * Opens or creates the file. `store` names its owner. Refuses a file with another store's queue, one in use, one of a
 * newer version, and one that is no store. All other errors are `StorageFailure`.
 */
export function openStoreFile(givenPath: string, store: string): StoreFile {
  let path = resolve(givenPath);
  const openSqlite = loadSqlite();
  let db: SqliteDatabase;
  try {
    makeFile(path);
    // Behind a symbolic link, the write-ahead log lies next to the target.
    path = realpathSync(path);
    db = openSqlite(path);
  } catch (error) {
    throw fileFailure(path, error);
  }
  const file = new OpenFile(path, db);
  try {
    prepare(file, store);
    file.remember();
    return file;
  } catch (error) {
    if (isDamage(error) && mayBeOurs(path)) throw file.setAside(error);
    file.close();
    if (isBusy(error)) throw storeRefusal("store_in_use", inUse(path));
    if (isSyncError(error)) throw error;
    if (sqliteCode(error) === "SQLITE_NOTADB") throw unusable(path, "it is another kind of file");
    throw fileFailure(path, error);
  }
}

/**
 * Databases whose write-ahead log could not be folded in. On close, SQLite removes the log by name, and by then it may
 * belong to another store. So these are never closed or collected; they end with the process.
 */
const abandoned: SqliteDatabase[] = [];

class OpenFile implements StoreFile {
  readonly path: string;
  readonly db: SqliteDatabase;
  #durability: Durability | undefined;
  #identity: readonly (string | undefined)[] = [];
  #isOpen = true;
  #isLost = false;
  #hasLog = false;

  constructor(path: string, db: SqliteDatabase) {
    this.path = path;
    this.db = db;
  }

  transaction<T>(durability: Durability, work: () => T): T {
    try {
      if (!this.#isOpen) throw storageFailure("lost", `The store ${this.path} is closed.`);
      if (this.#durability !== durability) {
        // With a write-ahead log, "normal" waits for the disk only when the log is moved into the file.
        this.db.exec(`pragma synchronous = ${durability === "strict" ? "full" : "normal"}`);
        this.#durability = durability;
      }
      const result = inTransaction(this.db, "immediate", work);
      this.#checkIdentity();
      return result;
    } catch (error) {
      throw fileFailure(this.path, error);
    }
  }

  foldLog(): void {
    try {
      this.db.exec("pragma wal_checkpoint(truncate)");
    } catch (error) {
      throw fileFailure(this.path, error);
    }
  }

  /** Remembers which files these are. A deleted file can still be written, and vanishes when the process ends. */
  remember(): void {
    this.#identity = this.#identities();
  }

  setAside(error: unknown): StorageFailure {
    this.close();
    const name = `${this.path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    try {
      renameSync(this.path, name);
    } catch (failure) {
      return fileFailure(this.path, failure);
    }
    moveIfThere(`${this.path}-wal`, `${name}-wal`);
    return storageFailure(
      "damaged",
      `The store ${this.path} is damaged (${reasonOf(error)}). It was renamed to ${name}, with its unsent writes; the next start creates a new store.`,
      error,
    );
  }

  beginLog(): void {
    this.#hasLog = true;
    this.db.exec("pragma journal_mode = wal; pragma synchronous = full");
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!this.#isLost && this.#release()) this.db.close();
    else abandoned.push(this.db);
  }

  destroy(): void {
    // Overwrites the data before deleting the file, because some systems cannot delete an open file.
    this.transaction("strict", () => this.db.exec(EMPTY));
    try {
      this.db.exec("pragma journal_mode = delete");
      this.#hasLog = false;
      // While the lock is still held, so that no other process opens the file before it is deleted.
      rmSync(this.path, { force: true });
    } catch (error) {
      throw fileFailure(this.path, error);
    } finally {
      this.close();
    }
  }

  /** Closing alone keeps the lock until the last statement is collected. */
  #release(): boolean {
    try {
      // Folds the log in, so that a single file remains that can be copied.
      if (this.#hasLog) this.db.exec("pragma journal_mode = delete");
    } catch {
      return false;
    }
    try {
      this.db.exec("pragma locking_mode = normal; begin; select 1 from sqlite_schema; commit");
    } catch {
      // The file cannot be read; the lock ends with the process.
    }
    return true;
  }

  #checkIdentity(): void {
    const now = this.#identities();
    if (this.#identity.every((id, at) => id === undefined || id === now[at])) return;
    this.#isLost = true;
    throw storageFailure("lost", `The store ${this.path} was removed or replaced while it was in use.`);
  }

  #identities(): readonly (string | undefined)[] {
    return [this.path, `${this.path}-wal`].map((path) => {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      return found && `${found.dev}:${found.ino}`;
    });
  }
}

/**
 * Uses exclusive locks of the operating system: a second open fails at once, and a killed process leaves no lock. They
 * need no shared memory, so they also work where there is none.
 */
function prepare(file: OpenFile, store: string): void {
  const { db } = file;
  // What is deleted or replaced is overwritten with zeros.
  db.exec("pragma locking_mode = exclusive; pragma fullfsync = on; pragma secure_delete = on");
  const isNew = inTransaction(db, "exclusive", () => checkStore(file.path, db, store)) === "new";
  // Nothing is written before this point, so a refused file stays unchanged.
  file.beginLog();
  inTransaction(db, "immediate", () => {
    if (isNew) db.exec(TABLES);
    else addColumns(db);
    db.prepare("insert into store (one, name, generation) values (1, ?, 0) on conflict do nothing").run(store);
  });
  // From here on, the header in the file names its store, even if the rest gets damaged.
  if (isNew) db.exec("pragma wal_checkpoint(truncate)");
}

/** Creates the file so that only this user can read it. An existing file is not changed. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Whether the file begins like a database, or with zeros only, like one whose blocks were lost. */
function mayBeOurs(path: string): boolean {
  // Closing a file descriptor drops all locks that this process has on the file. At this point it has none that
  // matters.
  const header = Buffer.alloc(72);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  return header.subarray(0, 16).every((byte) => byte === 0) || header.readInt32BE(68) === APPLICATION_ID;
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const inUse = (path: string) =>
  `The store ${path} is in use. Close the other client, or end its process: only one client at a time can use a store.`;
