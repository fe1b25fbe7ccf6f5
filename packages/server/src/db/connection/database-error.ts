import type { ErrorCode } from "@holdfast/sdk/protocol";

/** SQLSTATE of a server's error, or Node's code of a network error; undefined when it is neither. */
export const errorState = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
};

const BUSY = new Set(["40001", "40P01", "55P03", "57014", "25P03", "53300", "53200"]);
const FULL = new Set(["53100"]);
const GONE = /^(08|57P|XX|58)|^E[A-Z]+$|^25P02$|^25006$/;

/** What a database failure means to a caller; undefined when it is a bug of ours. */
export function failureCode(error: unknown): ErrorCode | undefined {
  const state = errorState(error);
  if (state === undefined) return driverFailure(error);
  if (BUSY.has(state)) return "overloaded";
  if (FULL.has(state)) return "storage_full";
  return GONE.test(state) ? "unavailable" : undefined;
}

/** The driver reports a connection that broke, or could not be had in time, without a code: its own sentences tell. */
function driverFailure(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.message === "timeout exceeded when trying to connect") return "overloaded";
  return LOST.test(error.message) ? "unavailable" : undefined;
}

const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|The database connection went silent|timeout expired)/;
