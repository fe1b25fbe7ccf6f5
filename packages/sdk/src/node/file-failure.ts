import { reasonOf } from "../core/reason-of.ts";
import { StorageFailure } from "../engine/ports.ts";
import { isFull } from "../storage/storage-failure.ts";

type Code = StorageFailure["code"];

/** Turns an error of the database into a sentence about the file. */
export function fileFailure(path: string, error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  const [code, sentence] = whatFailed(path, error);
  return storageFailure(code, sentence, error);
}

export const storageFailure = (code: Code, sentence: string, cause?: unknown): StorageFailure =>
  new StorageFailure(`${sentence} Writes are in memory only.`, { code, cause });

function whatFailed(path: string, error: unknown): [Code, string] {
  const code = sqliteCode(error);
  const reason = reasonOf(error);
  if (code.startsWith("SQLITE_FULL") || isFull(error))
    return ["full", `The disk is full: ${path} could not be written.`];
  if (code.startsWith("SQLITE_READONLY"))
    return ["unavailable", `The store ${path} cannot be written: it is read-only.`];
  if (code.startsWith("SQLITE_IOERR"))
    return ["failed", `The disk failed while reading or writing ${path} (${reason}).`];
  if (isDamage(error)) return ["damaged", `The store ${path} is damaged (${reason}).`];
  return [code === "" ? "unavailable" : "failed", `The store ${path} failed (${reason}).`];
}

/** The file is damaged: its content cannot be what was written. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || error instanceof SyntaxError;
}

export const isBusy = (error: unknown): boolean =>
  sqliteCode(error).startsWith("SQLITE_BUSY") || sqliteCode(error).startsWith("SQLITE_LOCKED");

/** Empty for errors of the operating system or of opening the file. */
export function sqliteCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : "";
}
