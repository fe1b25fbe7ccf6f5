import type { ErrorCode } from "@holdfast/sdk/protocol";
import { TenantElsewhere } from "../commits/db/tenant-elsewhere.ts";
import { UnreadableTable } from "./unreadable-table.ts";

/** SQLSTATE of a Postgres error, or Node's code of a network error. Undefined for other errors. */
export const errorState = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
};

const BUSY = new Set(["40001", "40P01", "55P03", "57014", "25P03", "53300", "53200"]);
const FULL = new Set(["53100"]);
/**
 * The last ones are of databases that other people run: they change a password, take rights away, or drop the database.
 */
const GONE = /^(08|57P|XX|58)|^E[A-Z]+$|^25P02$|^25006$|^(28|3D)|^42501$|^55000$/;

/** The error code that a caller gets for a database failure. Undefined if it is a bug of ours. */
export function failureCode(error: unknown): ErrorCode | undefined {
  if (error instanceof TenantElsewhere || error instanceof UnreadableTable) return "unavailable";
  const state = errorState(error);
  if (state === undefined) return driverFailure(error);
  if (BUSY.has(state)) return "overloaded";
  if (FULL.has(state)) return "storage_full";
  if (isEmptied(error)) return "unavailable";
  return GONE.test(state) ? "unavailable" : undefined;
}

/** Our tables are gone: the database's owner has dropped them, or loads a backup. */
export const isEmptied = (error: unknown): boolean =>
  MISSING.has(errorState(error) ?? "") && /\bholdfast\b/.test((error as Error).message);

/** SQLSTATEs: no such table, schema, function. */
const MISSING = new Set(["42P01", "3F000", "42883"]);

/**
 * The driver reports a broken connection, or a timeout while connecting, without a code: recognize it by its message.
 */
function driverFailure(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.message === "timeout exceeded when trying to connect") return "overloaded";
  return LOST.test(error.message) ? "unavailable" : undefined;
}

const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|The database (connection stopped responding|sent more than|took longer than)|timeout expired)/;

/** Postgres' code for a lock that was not free within `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = "55P03";
/** Postgres' code for transactions that wait for each other. */
export const DEADLOCK = "40P01";
/** Postgres' code for a privilege that is missing. */
export const INSUFFICIENT_PRIVILEGE = "42501";
/** Postgres' code for a key that exists already. */
export const UNIQUE_VIOLATION = "23505";
/** Postgres' code for a statement that took longer than `statement_timeout`. */
export const QUERY_CANCELED = "57014";
