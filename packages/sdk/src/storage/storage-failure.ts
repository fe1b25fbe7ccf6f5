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

export function failure(error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  // Dexie wraps the platform's error.
  const inner = (error as { inner?: unknown } | undefined)?.inner;
  const { name, message } = error instanceof Error ? error : { name: "Error", message: reasonOf(error) };
  const code = ownValue(CODES, name) ?? ownValue(CODES, (inner as Error | undefined)?.name ?? "") ?? "failed";
  return new StorageFailure(`The local store failed (${name}: ${message}). Writes are in memory only.`, {
    cause: error,
    code,
  });
}
