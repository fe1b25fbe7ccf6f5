import { reasonOf } from "../core/reason-of.ts";
import type { StorageTrouble } from "../core/state.ts";
import { StorageFailure } from "../engine/ports.ts";
import { ownValue } from "../protocol/own-value.ts";

const LOST = new Set([
  "InvalidStateError",
  "UnknownError",
  "DatabaseClosedError",
  "InvalidState",
  "AbortError",
  "OpenFailedError",
]);

export function isLostHandle(error: unknown): boolean {
  return error instanceof Error && LOST.has(error.name);
}

export const emptied = () =>
  new StorageFailure(
    "The site's data was cleared while the page was open. Until the page is reloaded, writes are in memory only.",
    { code: "cleared" },
  );

const CODES: Readonly<Record<string, StorageTrouble["code"]>> = {
  QuotaExceededError: "quota",
  BlockedError: "blocked",
  VersionError: "newer",
  MissingAPIError: "unavailable",
  SecurityError: "unavailable",
  NotFoundError: "damaged",
  DataError: "damaged",
  NotReadableError: "damaged",
  UnknownError: "damaged",
  InvalidStateError: "lost",
  DatabaseClosedError: "lost",
  AbortError: "lost",
};

/** How SQLite, LevelDB, Chromium and operating systems say it. No browser has a name of its own for it. */
const FULL = /SQLITE_FULL|disk is full|ENOSPC|EDQUOT|NO_SPACE|no space left|NO_DEVICE_SPACE|Failed to write blobs/i;

export const isFull = (error: unknown): boolean => FULL.test(String(error));

export const diskFull = (cause: unknown) =>
  new StorageFailure(`The disk is full: the local store cannot be written (${cause}). Writes are in memory only.`, {
    cause,
    code: "full",
  });

/**
 * Chromium says the same of a store that it cannot open because the disk is full, and of a damaged one. Whether another
 * file can be written tells them apart.
 */
export async function isDiskFull(): Promise<boolean> {
  const name = "holdfast-probe";
  try {
    const folder = await navigator.storage.getDirectory();
    const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
    await file.write(new Uint8Array(65_536));
    await file.close();
    await folder.removeEntry(name);
    return false;
  } catch (error) {
    return (error as { name?: unknown }).name === "QuotaExceededError";
  }
}

export function failure(error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  if (isFull(error)) return diskFull(error);
  // Dexie wraps the platform's error.
  const inner = (error as { inner?: unknown } | undefined)?.inner;
  const { name, message } = error instanceof Error ? error : { name: "Error", message: reasonOf(error) };
  const code = ownValue(CODES, name) ?? ownValue(CODES, (inner as Error | undefined)?.name ?? "") ?? "failed";
  return new StorageFailure(`The local store failed (${name}: ${message}). Writes are in memory only.`, {
    cause: error,
    code,
  });
}
