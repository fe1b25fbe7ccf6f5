import { closeSync, mkdirSync, openSync, readSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { StorageFailure } from "../engine/ports.ts";
import { isSyncError } from "../errors.ts";
import { fileFailure, isBusy, isDamage, messageOf, sqliteCode, storageFailure } from "./file-failure.ts";
import { inTransaction, loadSqlite, type SqliteDatabase } from "./libsql.ts";
import { storeRefusal, unusable } from "./store-refusal.ts";
import { APPLICATION_ID, checkStore, EMPTY } from "./store-tables.ts";

/** How much of a transaction outlives the machine: "strict" is on the disk when it is over, "relaxed" soon after. */
export type Durability = "strict" | "relaxed";

/** One file, held by this process alone until it is closed or the process ends, however it ends. */
export interface StoreFile {
  readonly path: string;
  readonly db: SqliteDatabase;
  /** All of it or nothing. Fails with `StorageFailure`. */
  transaction<T>(durability: Durability, work: () => T): T;
  /** For a file that cannot be believed: closes it and gives it another name. */
  setAside(error: unknown): StorageFailure;
  close(): void;
  /** Closes it and takes everything off the disk. */
  destroy(): void;
}

/**
 * Opens the file, or makes it. `store` names whose it is: a file that holds another's queue is refused, as are one in
 * use, one of a newer version, and one that is no store. What fails otherwise is a `StorageFailure`.
 */
export function openStoreFile(givenPath: string, store: string): StoreFile {
  let path = resolve(givenPath);
  const openSqlite = loadSqlite();
  let db: SqliteDatabase;
  try {
    makeFile(path);
    // Behind a link lies the file whose log lies beside it.
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
 * Databases whose log could not be folded in. SQLite removes a log by its name when it closes, and by then another
 * store may lie there: so these are never closed, nor collected. They end with the process.
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
        // With a write-ahead log "normal" waits for the disk only when the log is moved into the file.
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

  /** Which files these are. One that was removed can still be written, and is gone when the process ends. */
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
      `The store ${this.path} is damaged (${messageOf(error)}). It was renamed to ${name}, with its unsent writes; the next start creates a new store.`,
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
    // Overwritten and not only removed: where an open file cannot be removed nothing is left in it either.
    this.transaction("strict", () => this.db.exec(EMPTY));
    try {
      this.db.exec("pragma journal_mode = delete");
      this.#hasLog = false;
      // While the lock is still held: nobody can open what is about to go.
      rmSync(this.path, { force: true });
    } catch (error) {
      throw fileFailure(this.path, error);
    } finally {
      this.close();
    }
  }

  /** Closing alone keeps the lock until the last statement is collected, whenever that is. */
  #release(): boolean {
    try {
      // Folds the log in: what is left is one file, that can be copied.
      if (this.#hasLog) this.db.exec("pragma journal_mode = delete");
    } catch {
      return false;
    }
    try {
      this.db.exec("pragma locking_mode = normal; begin; select 1 from sqlite_schema; commit");
    } catch {
      // It cannot be read; then the lock goes with the process.
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
 * Exclusive locks of the operating system's: the second to open is refused at once, and nothing of them stays when
 * the process is killed. No shared memory is needed then, so it works where there is none.
 */
function prepare(file: OpenFile, store: string): void {
  const { db } = file;
  db.exec("pragma locking_mode = exclusive; pragma fullfsync = on");
  const missing = inTransaction(db, "exclusive", () => checkStore(file.path, db, store));
  // Only now is anything written: what was refused stays as it is.
  file.beginLog();
  inTransaction(db, "immediate", () => {
    if (missing) db.exec(missing);
    db.prepare("insert into store (one, name, generation) values (1, ?, 0) on conflict do nothing").run(store);
  });
  // From here on the header in the file itself says whose it is, also when the rest is damaged.
  if (missing) db.exec("pragma wal_checkpoint(truncate)");
}

/** Made by us, so that only this user can read it; what lies there already is not touched. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** A file that begins like a database, or with nothing but zeros as one does whose blocks were lost. */
function mayBeOurs(path: string): boolean {
  // Closing a file drops all locks that this process has on it: here nobody of it holds one that matters.
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
