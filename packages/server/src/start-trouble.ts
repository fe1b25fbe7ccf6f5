import { ConfigError } from "./config.ts";
import { EmbeddedPostgresError } from "./embedded-postgres/embedded-postgres-error.ts";
import { ForeignDatabase } from "./kernel/connection/database-owner.ts";
import { MissingRight, NewerDatabase } from "./kernel/connection/migrate.ts";

type SystemError = NodeJS.ErrnoException & {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
};

/** Postgres: the disk is full. */
const FULL = "53100";
/** The connection was ended from outside: Postgres was stopped, or an operator or the network ended it. */
const CUT = /^(57P0\d|08006|ECONNRESET|EPIPE)$/;
/** Postgres: authentication failed, the database does not exist, it accepts no writes, or a privilege is missing. */
const REFUSED = /^(28|3D|25006|42501)/;

/** Their messages say what to change. */
const SENTENCES = [ConfigError, NewerDatabase, MissingRight, ForeignDatabase];

/**
 * Why the server cannot start, in a sentence that says what to change. Undefined for a bug of ours, whose stack is
 * worth reading.
 */
export function startTrouble(error: unknown): string | undefined {
  if (SENTENCES.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof EmbeddedPostgresError)
    return /no space left on device|quota exceeded/i.test(error.message)
      ? `The disk is full: free some space, or set HOLDFAST_DATA_DIR. ${error.message}`
      : error.message;
  // For a name with several addresses, each was tried.
  const tried: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(tried instanceof Error)) return undefined;
  const { code = "", syscall, address, port, hostname, message } = tried as SystemError;
  const place = port === undefined ? address : `${address}:${port}`;
  if (syscall === "getaddrinfo")
    return `The host ${hostname} cannot be resolved (${code}): check HOST and DATABASE_URL.`;
  if (syscall === "listen" && code === "EADDRINUSE")
    return `${place} is in use: set PORT, or stop the program that uses it.`;
  if (syscall === "listen") return `The server cannot listen on ${place} (${code}): check HOST and PORT.`;
  if (code === "ENOSPC" || code === "EDQUOT")
    return `The disk is full (${code}): free some space, or set HOLDFAST_DATA_DIR.`;
  if (syscall === "connect") return `DATABASE_URL: no database answers at ${place} (${code}).`;
  if (code === FULL) return `DATABASE_URL: the database's disk is full (${message}).`;
  if (CUT.test(code) || message === "Connection terminated unexpectedly")
    return `DATABASE_URL: the database closed the connection (${message}). Start again when it is available.`;
  return REFUSED.test(code) ? `DATABASE_URL: ${message}.` : undefined;
}
