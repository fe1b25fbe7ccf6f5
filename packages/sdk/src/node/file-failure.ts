import { StorageFailure } from "../engine/ports.ts";

/** What the database said, as a sentence about the file. */
export function fileFailure(path: string, error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  return new StorageFailure(`${whatFailed(path, error)} Writes are kept in memory only.`, { cause: error });
}

function whatFailed(path: string, error: unknown): string {
  const code = sqliteCode(error);
  const said = error instanceof Error ? error.message : String(error);
  if (code.startsWith("SQLITE_FULL")) return `The disk is full: ${path} could not be written.`;
  if (code.startsWith("SQLITE_READONLY")) return `The store ${path} cannot be written: it is read-only.`;
  if (code.startsWith("SQLITE_IOERR")) return `The disk failed while ${path} was read or written (${said}).`;
  if (isDamage(error)) return `The store ${path} is damaged (${said}).`;
  return `The store ${path} failed (${said}).`;
}

/** What is in the file cannot be what was written. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || error instanceof SyntaxError;
}

export const isBusy = (error: unknown): boolean =>
  sqliteCode(error).startsWith("SQLITE_BUSY") || sqliteCode(error).startsWith("SQLITE_LOCKED");

export function sqliteCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}
